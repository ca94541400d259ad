import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge, Meter } from '../../parts/badge.tsx';
import { formatUsdShort } from '../../parts/money.ts';
import { Section } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';

type Limit = Schemas['KeyLimit'];

const LAYERS: Readonly<Record<Limit['kind'], string>> = {
  key: 'the key itself',
  issuer: 'the key that made it',
  workspace: 'the workspace',
  guardrail: 'a guardrail',
  account: 'the credit of the account',
};

/** What bounds the spending of a key, of all layers, the tightest first. */
export function Limits({ hash }: { readonly hash: string }): ReactElement {
  const limits = useRead(['key-limits', hash], (signal) =>
    client.GET('/keys/{hash}/limits', { signal, params: { path: { hash } } }),
  );
  return (
    <Section title="What binds it">
      <Load of={limits} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-dim">Nothing: no layer has a limit, and no credit is tracked.</p>
          ) : (
            <ul>
              {data.map((limit, at) => (
                <LimitRow key={`${limit.kind} ${limit.subject} ${limit.reset}`} limit={limit} isTightest={at === 0} />
              ))}
            </ul>
          )
        }
      </Load>
    </Section>
  );
}

function LimitRow({
  limit: { kind, subject, limit, spent, left, reset, resets_at: resetsAt },
  isTightest,
}: {
  readonly limit: Limit;
  readonly isTightest: boolean;
}): ReactElement {
  const layer = LAYERS[kind];
  return (
    <li className="flex min-h-7 flex-wrap items-center gap-x-4 border-b border-line last:border-0">
      <span className="w-48" title={subject}>
        {layer} {isTightest && <Badge tone={left <= 0 ? 'bad' : 'accent'}>tightest</Badge>}
      </span>
      <Meter used={spent} limit={limit} label={`Spent of the limit of ${layer}`} />
      <span className="font-mono text-xs">
        {formatUsdShort(spent)} of {formatUsdShort(limit)} $, {formatUsdShort(left)} left
      </span>
      <span className="text-dim">
        {reset === null ? 'in all' : reset}
        {resetsAt !== null && (
          <>
            , counts anew <Ago at={resetsAt} />
          </>
        )}
      </span>
      {kind === 'guardrail' && (
        <span className="text-dim">
          <Name>{subject}</Name>
        </span>
      )}
    </li>
  );
}
