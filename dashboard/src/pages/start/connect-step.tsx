import type { ReactElement } from 'react';
import { numberOf, useAnalytics } from '../../api/analytics.ts';
import { useOperation } from '../../api/operations.ts';
import { Badge, Dot } from '../../parts/badge.tsx';
import { To } from '../../parts/button.tsx';
import { CLIENTS, type ClientSnippet } from '../../parts/client-snippets.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { useSearchState } from '../../parts/search.ts';
import { useNow } from '../../parts/text.tsx';
import { boundsOf } from '../../parts/time.ts';
import type { MadeKey } from './key-step.tsx';
import { parseStartSearch } from './search.ts';

const LOOK_MS = 3_000;

/** Settings of each client, ready to copy, and a light that turns green with the first call of the new key. */
export function ConnectStep({
  apiKey,
  model,
}: {
  readonly apiKey: MadeKey | undefined;
  readonly model: string;
}): ReactElement {
  const [search, change] = useSearchState(parseStartSearch);
  const chosen = CLIENTS.find(({ name }) => name === search.client) ?? CLIENTS[0];
  return (
    <div className="flex flex-col gap-3">
      <div role="group" aria-label="Your program" className="flex flex-wrap gap-1.5">
        {CLIENTS.map(({ name }) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen?.name}
            onClick={() => change({ client: name }, false)}
            className="h-7 rounded-md border border-line px-2.5 text-dim hover:text-text aria-pressed:border-accent aria-pressed:bg-chosen aria-pressed:text-text"
          >
            {name}
          </button>
        ))}
      </div>
      {chosen !== undefined && <Snippet snippet={chosen} apiKey={apiKey} model={model} />}
      {apiKey !== undefined && <FirstCall apiKey={apiKey} />}
    </div>
  );
}

function Snippet({
  snippet,
  apiKey,
  model,
}: {
  readonly snippet: ClientSnippet;
  readonly apiKey: MadeKey | undefined;
  readonly model: string;
}): ReactElement {
  const has = useOperation(snippet.operation);
  if (has === false)
    return (
      <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
        {snippet.name} speaks <code className="font-mono text-xs">{snippet.operation}</code>, which this gateway does
        not have.
      </p>
    );
  return (
    <>
      {snippet.note !== undefined && <p className="text-warn">{snippet.note}</p>}
      <CodeBlock
        label={`Settings of ${snippet.name}`}
        text={snippet.text(location.origin, apiKey?.key ?? '$GATEWAY_API_KEY', model)}
      />
    </>
  );
}

function FirstCall({ apiKey }: { readonly apiKey: MadeKey }): ReactElement {
  const calls = useAnalytics(
    {
      metrics: ['request_count'],
      range: boundsOf('24h', useNow()),
      filters: [{ field: 'api_key_id', operator: 'eq', value: apiKey.hash }],
    },
    { everyMs: LOOK_MS },
  );
  const count = numberOf(calls.data?.rows[0], 'request_count');
  return (
    <p aria-live="polite">
      {count > 0 ? (
        <>
          <Badge tone="good">received</Badge> The first call of “{apiKey.name}” is here.{' '}
          <To to="/ui/requests" search={{ key: apiKey.hash }}>
            Its requests
          </To>
        </>
      ) : (
        <span className="text-dim">
          <Dot tone="accent" isLive /> waiting for the first call of “{apiKey.name}” …
        </span>
      )}
    </p>
  );
}
