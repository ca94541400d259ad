import type { ReactElement } from 'react';
import { isRecord } from '../../api/errors.ts';
import type { Candidate, Explanation } from '../../api/explain.ts';
import { Badge } from '../badge.tsx';
import { reasonOf } from './exclusion.ts';
import { formatUsd } from '../money.ts';
import { Name } from '../text.tsx';

/** Candidates in the order they would be tried, then the endpoints left out, each with its reason. */
export function ExplanationView({ explanation }: { readonly explanation: Explanation }): ReactElement {
  const { candidates, resting, excluded, ordering, estimated_prompt_tokens: tokens, routers = [] } = explanation;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-dim">
        {candidates.length} of {candidates.length + resting.length + excluded.length} endpoints may serve it, ordered by{' '}
        <strong className="font-medium text-text">{ordering}</strong>; about {tokens} prompt tokens.
        {routers.map(({ router, chosen }) => ` ${router} chose ${chosen.join(', ')}.`)}
      </p>
      <div className="overflow-x-auto">
        <table className="w-full min-w-[560px]">
          <thead className="text-left text-xs text-dim">
            <tr className="border-b border-line">
              <th scope="col" className="w-8 py-1 font-medium">
                #
              </th>
              <th scope="col" className="font-medium">
                Endpoint
              </th>
              <th scope="col" className="font-medium">
                Model
              </th>
              <th scope="col" className="text-right font-medium">
                In $/M
              </th>
              <th scope="col" className="text-right font-medium">
                Out $/M
              </th>
              <th scope="col" className="pr-3 text-right font-medium">
                This request
              </th>
              <th scope="col" className="font-medium">
                State, or why not
              </th>
            </tr>
          </thead>
          <tbody>
            {candidates.map((candidate, at) => (
              <Row
                key={`c ${candidate.tag} ${candidate.model}`}
                candidate={candidate}
                position={String(at + 1)}
                state={<Health candidate={candidate} />}
              />
            ))}
            {resting.map((candidate) => (
              <Row
                key={`r ${candidate.tag} ${candidate.model}`}
                candidate={candidate}
                position="–"
                state={<Badge tone="warn">in cooldown</Badge>}
              />
            ))}
            {excluded.map((candidate) => (
              <Row
                key={`e ${candidate.tag} ${candidate.model}`}
                candidate={candidate}
                position="–"
                isOut
                state={<span title={candidate.reason}>{reasonOf(candidate.reason, candidate.lacks)}</span>}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Row({
  candidate,
  position,
  state,
  isOut = false,
}: {
  readonly candidate: Candidate;
  readonly position: string;
  readonly state: ReactElement;
  readonly isOut?: boolean;
}): ReactElement {
  const price = isRecord(candidate['price']) ? candidate['price'] : {};
  const cost = isRecord(candidate['estimated_cost']) ? candidate['estimated_cost'] : {};
  return (
    <tr className={`h-7 border-b border-line last:border-0 ${isOut ? 'text-dim' : ''}`}>
      <td className="text-dim">{position}</td>
      <td className="font-medium">
        <Name>{candidate.tag}</Name>
      </td>
      <td className="pr-2 font-mono text-xs">
        <Name>{candidate.model}</Name>
      </td>
      <td className="text-right font-mono text-xs">{numberText(price['prompt'])}</td>
      <td className="text-right font-mono text-xs">{numberText(price['completion'])}</td>
      <td className="pr-3 text-right font-mono text-xs">
        {typeof cost['prompt'] === 'number' ? `${formatUsd(cost['prompt'])} $ in` : '–'}
      </td>
      <td>{state}</td>
    </tr>
  );
}

function Health({ candidate }: { readonly candidate: Candidate }): ReactElement {
  const health = typeof candidate['health'] === 'string' ? candidate['health'] : 'normal';
  return <Badge tone={health === 'normal' ? 'good' : 'warn'}>{health}</Badge>;
}

function numberText(value: unknown): string {
  return typeof value === 'number' ? value.toFixed(2) : '–';
}
