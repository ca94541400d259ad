import type { ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { reasonOf } from '../../parts/explanation/exclusion.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';
import { formatSpan } from '../../parts/time.ts';

type Route = Schemas['GenerationRoute'];
type Endpoint = Route['considered'][number];

const OUTCOMES: Readonly<Record<Endpoint['outcome'], readonly [string, Tone]>> = {
  served: ['served', 'good'],
  failed: ['failed', 'bad'],
  not_needed: ['not needed', 'accent'],
  resting: ['in cooldown', 'warn'],
  excluded: ['excluded', 'dim'],
};

/** Every endpoint that was considered, with the reason of each that was left out, and what plugins and guardrails did. */
export function RouteDecision({ route }: { readonly route: Route }): ReactElement {
  const { considered, considered_more: more, ordering, session_held: isHeld, stages } = route;
  return (
    <div className="mt-3">
      <h3 className="text-xs font-semibold text-dim">
        {formatCount(considered.length + more)} considered
        {ordering === null ? '' : `, ordered by ${ordering}`}
        {isHeld ? ', the session is tied to one of them' : ''}
      </h3>
      <ol>
        {considered.map((endpoint) => (
          <Considered key={`${endpoint.tag} ${endpoint.model} ${endpoint.upstream_model}`} endpoint={endpoint} />
        ))}
      </ol>
      {more > 0 && <p className="text-dim">{formatCount(more)} further ones are not kept.</p>}
      {stages.length > 0 && <Stages stages={stages} />}
    </div>
  );
}

function Considered({ endpoint }: { readonly endpoint: Endpoint }): ReactElement {
  const { outcome, order, provider, tag, model, reason, lacks, demoted_by: demotedBy, rest_ms: restMs } = endpoint;
  const [words, tone] = OUTCOMES[outcome];
  const why = [
    ...(reason === null ? [] : [reasonOf(reason, lacks ?? undefined)]),
    ...(demotedBy === null ? [] : [`last, since it does not meet ${demotedBy.replaceAll('_', ' ')}`]),
    ...(restMs === null ? [] : [`for ${formatSpan(restMs)} more`]),
  ];
  return (
    <li className="flex min-h-7 flex-wrap items-center gap-x-3 border-b border-line last:border-0">
      <span className="w-4 text-right text-dim">{order ?? '–'}</span>
      <span className="w-32 truncate font-medium" title={provider}>
        <Name>{tag}</Name>
      </span>
      <span className="font-mono text-xs text-dim">
        <Name>{model}</Name>
      </span>
      <Badge tone={tone}>{words}</Badge>
      <span className="min-w-0 text-dim">{why.join('; ')}</span>
    </li>
  );
}

function Stages({ stages }: { readonly stages: Route['stages'] }): ReactElement {
  return (
    <>
      <h3 className="mt-3 text-xs font-semibold text-dim">Stages</h3>
      <ul className="flex flex-col gap-2">
        {stages.map(({ name, type, summary, data, cost }, at) => (
          <li key={`${name} ${at}`}>
            <span className="font-medium">
              <Name>{name}</Name>
            </span>{' '}
            <span className="text-dim">
              {type}
              {summary === null ? '' : `: ${summary}`}
              {cost === null ? '' : `, ${formatUsd(cost)} $`}
            </span>
            {data !== null && <JsonView value={data} label={`Stage ${name}`} />}
          </li>
        ))}
      </ul>
    </>
  );
}
