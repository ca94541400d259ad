import type { ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useExplanation } from '../../api/explain.ts';
import { Badge } from '../../parts/badge.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Name } from '../../parts/text.tsx';
import { liftOf, type Lift } from './lift.ts';

type Endpoint = Schemas['GenerationRoute']['considered'][number];

const SHOWN_MAX = 5;

/** For a request that nothing could serve: the smallest change for each endpoint, explained as of now. */
export function LetPass({
  considered,
  model,
}: {
  readonly considered: readonly Endpoint[];
  /** As the caller spelled it. */
  readonly model: string;
}): ReactElement | undefined {
  const lifts = considered.flatMap((endpoint) => {
    const lift = endpoint.outcome === 'excluded' ? liftOf(endpoint) : undefined;
    return lift === undefined ? [] : [{ endpoint, lift }];
  });
  if (lifts.length === 0) return undefined;
  return (
    <>
      <h3 className="mt-3 text-xs font-semibold text-dim">What would have let it pass</h3>
      <ul className="flex flex-col gap-2">
        {lifts.slice(0, SHOWN_MAX).map(({ endpoint, lift }) => (
          <li key={`${endpoint.tag} ${endpoint.model} ${endpoint.upstream_model}`}>
            <span className="font-medium">
              <Name>{endpoint.tag}</Name>
            </span>{' '}
            {lift.words} {lift.change !== undefined && <Check endpoint={endpoint} model={model} change={lift.change} />}
            {lift.change !== undefined && (
              <CodeBlock label={`Change for ${endpoint.tag}`} text={JSON.stringify(lift.change)} isWrapped />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** What the planner says of a request with the change and nothing else. */
function Check({
  endpoint,
  model,
  change,
}: {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly change: NonNullable<Lift['change']>;
}): ReactElement | undefined {
  const explained = useExplanation({ model, messages: [{ role: 'user', content: 'Hello' }], ...change });
  if (explained.data === undefined) return undefined;
  const serves = [...explained.data.candidates, ...explained.data.resting].some(({ tag }) => tag === endpoint.tag);
  return <Badge tone={serves ? 'good' : 'warn'}>{serves ? 'then it may serve' : 'not by this alone'}</Badge>;
}
