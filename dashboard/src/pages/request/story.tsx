import { useState, type ReactElement } from 'react';
import { useRead } from '../../api/read.ts';
import { client, type Schemas } from '../../api/client.ts';
import { Status } from '../../parts/badge.tsx';
import { Section } from '../../parts/page.tsx';
import { Name } from '../../parts/text.tsx';
import { formatMs } from '../../parts/time.ts';
import { labelOfProvider } from '../../parts/provider-label.ts';
import { LetPass } from './let-pass.tsx';
import { RouteDecision } from './route-decision.tsx';
import { servedBy } from './served-by.ts';

export type Generation = Schemas['Generation'];

/** Routes are written a second after the response. */
const NEW_MS = 10_000;

interface Part {
  readonly name: string;
  readonly ms: number;
  readonly tone: string;
}

/** Attempts, the wait for the first token and the stream, in this order on one axis of time. */
export function Story({ generation }: { readonly generation: Generation }): ReactElement {
  const [isNew] = useState(() => Date.now() - Date.parse(generation.created_at) < NEW_MS);
  const route = useRead(
    ['route', generation.id],
    (signal) => client.GET('/generation/route', { signal, params: { query: { id: generation.id } } }),
    { isLate: isNew },
  );
  const served = servedBy(generation);
  return (
    <Section title={served === undefined ? 'Why nothing served it' : `Why ${served}`}>
      <Lane parts={partsOf(generation)} />
      {generation.error_message !== null && (
        <p className="mt-2 text-bad">
          {generation.error_type === null ? '' : `${generation.error_type}: `}
          <Name>{generation.error_message}</Name>
        </p>
      )}
      <Attempts generation={generation} />
      {route.data !== undefined ? (
        <>
          <RouteDecision route={route.data.data} />
          {served === undefined && (
            <LetPass considered={route.data.data.considered} model={generation.requested_model} />
          )}
        </>
      ) : (
        route.isError && (
          <p className="mt-3 text-xs text-dim">
            {route.error.status === 404
              ? 'No route was kept of this request: only failures, fallbacks and a sample are.'
              : route.error.message}{' '}
            “Explain now” plans it again as of now.
          </p>
        )
      )}
    </Section>
  );
}

function partsOf({ provider_responses: attempts, latency, time_to_first_token: firstMs }: Generation): readonly Part[] {
  const failed = attempts.filter(({ status }) => status === null || status >= 400);
  const failedMs = failed.reduce((sum, { latency: ms }) => sum + ms, 0);
  const total = latency ?? failedMs;
  const served = attempts.find(({ status }) => status !== null && status < 400);
  const parts = failed.map(({ tag, provider_name: name, status, latency: ms }): Part => ({
    name: `${labelOfProvider(tag, name)} ${status ?? 'not reached'}`,
    ms,
    tone: '--color-bad',
  }));
  if (served === undefined)
    return parts.length > 0 ? parts : [{ name: 'refused before any provider', ms: total, tone: '--color-warn' }];
  const waitMs = Math.max(0, (firstMs ?? total) - failedMs);
  const streamMs = Math.max(0, total - failedMs - waitMs);
  return [
    ...parts,
    {
      name: `${labelOfProvider(served.tag, served.provider_name)}: until the first token`,
      ms: waitMs,
      tone: '--chart-3',
    },
    ...(streamMs > 0 ? [{ name: 'stream', ms: streamMs, tone: '--chart-1' }] : []),
  ];
}

const SHARE_MIN = 0.015;

function Lane({ parts }: { readonly parts: readonly Part[] }): ReactElement {
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  const sentence = parts.map(({ name, ms }) => `${name} ${formatMs(ms)}`).join(', then ');
  return (
    <div>
      <div className="flex justify-between font-mono text-xs text-dim" aria-hidden="true">
        <span>0 ms</span>
        <span>{formatMs(total)}</span>
      </div>
      <div role="img" aria-label={`Timeline: ${sentence}`} className="flex h-7 gap-0.5 overflow-hidden rounded">
        {parts.map(({ name, ms, tone }, at) => (
          <div
            key={at}
            title={`${name}: ${formatMs(ms)}`}
            className="flex min-w-1 items-center overflow-hidden px-1.5 text-xs whitespace-nowrap text-white dark:text-black"
            style={{
              flexGrow: total === 0 ? 1 : Math.max(SHARE_MIN, ms / total),
              flexBasis: 0,
              background: `var(${tone})`,
              color: 'light-dark(#fff, #0c0e12)',
            }}
          >
            <span className="truncate">{name}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function Attempts({ generation: { provider_responses: attempts } }: { readonly generation: Generation }): ReactElement {
  if (attempts.length === 0) return <p className="mt-2 text-dim">No provider was called.</p>;
  return (
    <ol className="mt-2">
      {attempts.map((attempt, at) => (
        <li
          key={`${attempt.provider_name} ${at}`}
          className="flex h-7 items-center gap-3 border-b border-line last:border-0"
        >
          <span className="w-4 text-right text-dim">{at + 1}</span>
          <span className="w-32 truncate font-medium">
            <span title={attempt.tag}>
              <Name>{labelOfProvider(attempt.tag, attempt.provider_name) ?? ''}</Name>
            </span>
          </span>
          <Status status={attempt.status} />
          <span className="min-w-0 flex-1 truncate text-dim">
            {attempt.status === null
              ? 'could not be reached'
              : attempt.status < 400
                ? 'served'
                : at < attempts.length - 1
                  ? 'refused, so the next one was tried'
                  : 'refused'}
            {attempt.is_byok ? ', with an own credential' : ''}
            {attempt.credential === undefined ? '' : ` (${attempt.credential})`}
          </span>
          <span className="font-mono text-xs text-dim max-sm:hidden">{attempt.model_permaslug}</span>
          <span className="w-20 text-right font-mono text-xs">{formatMs(attempt.latency)}</span>
        </li>
      ))}
    </ol>
  );
}
