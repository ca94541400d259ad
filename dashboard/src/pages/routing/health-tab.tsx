import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Grid, type Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { formatMs, formatSpan } from '../../parts/time.ts';

type Endpoint = Schemas['RoutedEndpoint'];

const REFRESH_MS = 5_000;
const TONES = { normal: 'good', degraded: 'warn', failing: 'bad' } as const;

/** How each endpoint does that was called, and the end of a rest by hand. */
export function HealthTab(): ReactElement {
  const health = useRead(['routing-health'], (signal) => client.GET('/routing/health', { signal }), {
    everyMs: REFRESH_MS,
  });
  const reset = useChange((id: string) => client.POST('/routing/health/reset', { body: { id } }));
  const columns = [...COLUMNS, resetColumn((id) => reset.mutate(id), reset.isPending)];
  return (
    <Load of={health}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No endpoint was called yet">
            <p>Each endpoint that a request was sent to is here: its circuit, its rest, and its last failure.</p>
          </Empty>
        ) : (
          <>
            {reset.isError && (
              <p role="alert" className="bg-bad-soft px-4 py-1 text-bad">
                {reset.error.message}
              </p>
            )}
            <Grid label="Health of endpoints" columns={columns} rows={data} keyOf={({ id }) => id} />
          </>
        )
      }
    </Load>
  );
}

const mono = (text: string): ReactElement => <span className="font-mono text-xs">{text}</span>;

const COLUMNS: readonly Column<Endpoint>[] = [
  { id: 'provider', title: 'Provider', width: 100, cell: ({ provider }) => <Name>{provider}</Name> },
  {
    id: 'model',
    title: 'Model there',
    width: 140,
    grows: true,
    cell: ({ upstream_model: model, service_tier: tier }) => (
      <>
        <Name>{model}</Name>
        {tier !== null && <span className="text-dim"> {tier}</span>}
      </>
    ),
  },
  {
    id: 'credential',
    title: 'Credential',
    width: 80,
    cell: ({ credential_id: id }) => (id === null ? <span className="text-dim">gateway</span> : id.slice(0, 8)),
  },
  {
    id: 'status',
    title: 'Status',
    width: 78,
    cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge>,
  },
  {
    id: 'circuit',
    title: 'Circuit',
    width: 120,
    cell: ({ circuit, probe_in_ms: probeMs }) =>
      circuit === 'closed' ? (
        <span className="text-dim">closed</span>
      ) : (
        <Badge tone="bad">{probeMs === null ? 'open, tried now' : `open, try in ${formatSpan(probeMs)}`}</Badge>
      ),
  },
  {
    id: 'rest',
    title: 'Cooldown',
    width: 90,
    cell: ({ rest_ms: restMs, rest_named: isNamed }) =>
      restMs === null ? (
        <span className="text-dim">none</span>
      ) : (
        <Badge tone="warn">{`${formatSpan(restMs)}${isNamed ? ', by the upstream' : ''}`}</Badge>
      ),
  },
  {
    id: 'failure',
    title: 'Last failure',
    width: 200,
    cell: ({ last_failure: failure, failures_in_a_row: streak }) =>
      failure === null ? (
        <span className="text-dim">none</span>
      ) : (
        `${failure.kind} ${failure.upstream_status ?? failure.status}, ${formatSpan(failure.ms_ago)} ago${streak > 1 ? `, ${streak} in a row` : ''}`
      ),
  },
  {
    id: 'uptime',
    title: 'Up, 5 min',
    width: 76,
    align: 'right',
    cell: ({ uptime_last_5m: uptime }) => mono(uptime === null ? '–' : `${uptime.toFixed(1)} %`),
  },
  {
    id: 'requests',
    title: '1 d requests',
    width: 92,
    align: 'right',
    cell: ({ requests_last_1d: count }) => mono(formatCount(count)),
  },
  {
    id: 'ttft',
    title: 'TTFT p50, p99',
    width: 116,
    align: 'right',
    cell: ({ latency_last_30m: latency }) =>
      mono(latency === null ? '–' : `${formatMs(latency.p50)}, ${formatMs(latency.p99)}`),
  },
];

/** Where a circuit is closed and there is no cooldown, there is nothing to end. */
function resetColumn(onReset: (id: string) => void, isBusy: boolean): Column<Endpoint> {
  return {
    id: 'reset',
    title: 'By hand',
    width: 100,
    cell: ({ id, provider, circuit, rest_ms: restMs }) =>
      circuit === 'closed' && restMs === null ? undefined : (
        <Button
          look="quiet"
          disabled={isBusy}
          aria-label={`Close now: the circuit of ${provider}`}
          onClick={() => onReset(id)}
        >
          Close now
        </Button>
      ),
  };
}
