import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { numberOf, textOf, useAnalytics } from '../../api/analytics.ts';
import { toBuckets } from '../../api/buckets.ts';
import { client, type Schemas } from '../../api/client.ts';
import { nameOf, useWorkspaces, type ApiKey } from '../../api/lists.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, LinkButton, To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount, formatUsdShort } from '../../parts/money.ts';
import { Facts, Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { RangeSelect } from '../../parts/selects/range-select.tsx';
import { Ranked } from '../../parts/ranked.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Load } from '../../parts/states.tsx';
import { Ago, Money, Name, useNow } from '../../parts/text.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { boundsOf, granularityOf, RANGE_LABELS, type Range } from '../../parts/time.ts';
import { EditKey } from './edit-key.tsx';
import { Limits } from './limits.tsx';
import { parseKeySearch } from './search.ts';

/** One key: what binds it, what it spent, and on what. */
export function Page(): ReactElement {
  const { hash = '' } = useParams({ strict: false });
  const key = useRead(['keys', hash], async (signal) => ({
    data: (await client.GET('/keys/{hash}', { signal, params: { path: { hash } } })).data?.data,
  }));
  return (
    <Frame
      documentTitle={key.data?.name ?? 'Key'}
      title={
        <>
          <To to="/ui/keys" className="text-dim hover:underline">
            Keys
          </To>
          <span className="text-dim">/</span>
          <Name>{key.data?.name ?? '…'}</Name>
        </>
      }
      lead={key.data === undefined ? undefined : <span className="font-mono text-xs">{key.data.label}</span>}
      actions={key.data === undefined ? undefined : <Actions apiKey={key.data} />}
    >
      <Load of={key}>{(data) => <Details apiKey={data} />}</Load>
    </Frame>
  );
}

function Actions({ apiKey }: { readonly apiKey: ApiKey }): ReactElement {
  const { hash, name, disabled } = apiKey;
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const navigate = useNavigate();
  const path = { params: { path: { hash } } };
  const update = useChange((body: Schemas['UpdateKeyRequest']) => client.PATCH('/keys/{hash}', { ...path, body }));
  const remove = useChange(
    () => client.DELETE('/keys/{hash}', path),
    () => void navigate({ to: '/ui/keys' }),
  );
  useHotkeys({ d: () => update.mutate({ disabled: !disabled }) });
  return (
    <>
      <LinkButton to="/ui/requests" search={{ key: hash }} icon="requests">
        Requests
      </LinkButton>
      <Button icon="settings" onClick={() => setOpen('edit')}>
        Change
      </Button>
      <Button hotkey="d" disabled={update.isPending} onClick={() => update.mutate({ disabled: !disabled })}>
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      <Button icon="trash" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      <EditKey
        key={`${hash} ${open === 'edit'}`}
        apiKey={apiKey}
        isOpen={open === 'edit'}
        onClose={() => setOpen(undefined)}
      />
      <DeleteDialog
        what="key"
        name={name}
        isOpen={open === 'delete'}
        onClose={() => setOpen(undefined)}
        change={remove}
      >
        Programs that use it get 401 at once. Its records and its spend stay.
      </DeleteDialog>
    </>
  );
}

function Details({ apiKey }: { readonly apiKey: ApiKey }): ReactElement {
  const [{ range }, change] = useSearchState(parseKeySearch);
  const workspaces = useWorkspaces();
  const { limit, limit_remaining: left } = apiKey;
  return (
    <>
      <Stats>
        <Stat
          label="State"
          hint={
            apiKey.expires_at === null ? (
              'never expires'
            ) : (
              <>
                expires <Ago at={apiKey.expires_at} />
              </>
            )
          }
        >
          <Badge tone={apiKey.disabled ? 'dim' : 'good'}>{apiKey.disabled ? 'disabled' : 'active'}</Badge>
        </Stat>
        <Stat label="Limit" hint={apiKey.limit_reset === null ? 'does not reset' : `counts anew ${apiKey.limit_reset}`}>
          {limit === null ? 'none' : `${formatUsdShort(limit)} $`}
        </Stat>
        <Stat
          label="Left"
          hint={apiKey.include_byok_in_limit ? 'own credentials count' : 'own credentials do not count'}
        >
          {left === null ? '–' : `${formatUsdShort(left)} $`}
        </Stat>
        <Stat label="Today">{formatUsdShort(apiKey.usage_daily)} $</Stat>
        <Stat label="This week">{formatUsdShort(apiKey.usage_weekly)} $</Stat>
        <Stat label="This month">{formatUsdShort(apiKey.usage_monthly)} $</Stat>
        <Stat
          label="In all"
          hint={apiKey.byok_usage > 0 ? `own credentials ${formatUsdShort(apiKey.byok_usage)} $` : undefined}
        >
          {formatUsdShort(apiKey.usage)} $
        </Stat>
      </Stats>
      <Limits hash={apiKey.hash} />
      <Usage
        hash={apiKey.hash}
        range={range}
        onRange={(next) => change({ range: next === '30d' ? undefined : next })}
      />
      <Section title="About">
        <Facts
          of={[
            ['Hash', <Id key="hash" id={apiKey.hash} length={24} />],
            ['Workspace', <Name key="workspace">{nameOf(workspaces.data, apiKey.workspace_id)}</Name>],
            ['Created', <Ago key="created" at={apiKey.created_at} />],
            ['Changed', <Ago key="changed" at={apiKey.updated_at} />],
            ['Made by', apiKey.issuer_label ?? apiKey.creator_user_id ?? 'an operator'],
            [
              'Provider preferences',
              apiKey.default_provider_preferences === null
                ? 'none of its own'
                : JSON.stringify(apiKey.default_provider_preferences),
            ],
            ['Plugins', apiKey.default_plugins?.map(({ id }) => id).join(', ') ?? 'none of its own'],
          ]}
        />
      </Section>
    </>
  );
}

function Usage({
  hash,
  range,
  onRange,
}: {
  readonly hash: string;
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}): ReactElement {
  const bounds = boundsOf(range, useNow());
  const granularity = granularityOf(range);
  const usage = useAnalytics({
    metrics: ['total_usage', 'request_count', 'error_count'],
    dimensions: ['model'],
    granularity,
    range: bounds,
    filters: [{ field: 'api_key_id', operator: 'eq', value: hash }],
  });
  return (
    <Load of={usage} rows={5}>
      {({ rows }) => {
        const spend = toBuckets(rows, { granularity, range: bounds, metric: 'total_usage', groupBy: 'model' });
        const models = [...Map.groupBy(rows, (row) => textOf(row, 'model'))].map(([name, of]) => ({
          name,
          usd: of.reduce((sum, row) => sum + numberOf(row, 'total_usage'), 0),
          count: of.reduce((sum, row) => sum + numberOf(row, 'request_count'), 0),
        }));
        return (
          <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
            <Section title="Spend by model" actions={<RangeSelect value={range} onChange={onRange} />}>
              <TimeChart
                title={`Spend of the key in USD, ${RANGE_LABELS[range]}`}
                times={spend.times}
                series={spend.series}
                format={formatUsdShort}
              />
            </Section>
            <Section title="Models">
              <Ranked
                empty={`No request, ${RANGE_LABELS[range]}.`}
                rows={models
                  .toSorted((a, b) => b.usd - a.usd || b.count - a.count)
                  .slice(0, 7)
                  .map(({ name, usd, count }) => ({
                    name,
                    to: '/ui/requests',
                    search: { key: hash, model: name, range },
                    value: usd,
                    text: <Money usd={usd} />,
                    note: count === 1 ? '1 request' : `${formatCount(count)} requests`,
                  }))}
              />
            </Section>
          </div>
        );
      }}
    </Load>
  );
}
