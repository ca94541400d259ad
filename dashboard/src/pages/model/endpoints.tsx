import type { ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import { formatCompact, formatPerMillion } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';
import { formatMs } from '../../parts/time.ts';

/** By the status that the API gives. */
const STATES: Readonly<Record<number, string>> = {
  0: 'serves',
  [-1]: 'degraded',
  [-3]: 'failing',
  [-5]: 'no credentials',
};

type Endpoint = Schemas['PublicEndpoint'];

/** A row an endpoint: price, limits, how it did. */
export function Endpoints({ endpoints }: { readonly endpoints: readonly Endpoint[] }): ReactElement {
  return (
    <div className="overflow-x-auto px-4" tabIndex={0} role="region" aria-label="Endpoints">
      <table className="w-full min-w-[760px]">
        <thead className="text-left text-xs text-dim">
          <tr className="h-7 border-b border-line">
            <th scope="col" className="font-medium">
              Endpoint
            </th>
            <th scope="col" className="text-right font-medium">
              In $/M
            </th>
            <th scope="col" className="text-right font-medium">
              Out $/M
            </th>
            <th scope="col" className="text-right font-medium">
              Context
            </th>
            <th scope="col" className="text-right font-medium">
              Up 24 h
            </th>
            <th scope="col" className="text-right font-medium">
              TTFT p50 / p99
            </th>
            <th scope="col" className="text-right font-medium">
              tok/s
            </th>
            <th scope="col" className="pl-4 font-medium">
              Weights
            </th>
            <th scope="col" className="font-medium">
              State
            </th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow key={endpoint.tag} endpoint={endpoint} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: Endpoint }): ReactElement {
  const { pricing, latency_last_30m: latency, throughput_last_30m: speed } = endpoint;
  const uptime = endpoint.uptime_last_1d;
  const cell = 'text-right font-mono text-xs';
  return (
    <tr className="h-8 border-b border-line last:border-0">
      <th scope="row" className="text-left font-medium">
        <Name>{endpoint.tag}</Name> <span className="font-normal text-dim">{endpoint.provider_name}</span>
      </th>
      <td className={cell}>{formatPerMillion(pricing.prompt)}</td>
      <td className={cell}>{formatPerMillion(pricing.completion)}</td>
      <td className={cell}>{formatCompact(endpoint.context_length)}</td>
      <td className={cell}>{uptime === null ? '–' : `${uptime.toFixed(2)} %`}</td>
      <td className={cell}>{latency === null ? '–' : `${formatMs(latency.p50)} / ${formatMs(latency.p99)}`}</td>
      <td className={cell}>{speed === null ? '–' : speed.p50.toFixed(0)}</td>
      <td className="pl-4 text-dim">{endpoint.quantization}</td>
      <td>
        <Badge tone={endpoint.status === 0 ? 'good' : endpoint.status === -1 ? 'warn' : 'bad'}>
          {STATES[endpoint.status] ?? `status ${endpoint.status}`}
        </Badge>
      </td>
    </tr>
  );
}
