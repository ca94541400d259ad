import type { Wish } from '../accounts/ledger.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { Candidate } from '../routing/plan.ts';
import type { AttemptsQuestion } from './attempts.ts';
import type { Route } from './choose-route.ts';
import { limitAsSent } from './limit-as-sent.ts';
import { worstCaseOf, type WorstCase } from './worst-case.ts';

/**
 * The most that the route may come to cost. What rests now may be tried after all.
 * @param adapt gives candidates tools of their own to run, and their searches may have a fee
 */
export function wishOf(
  { id, createdMs }: Pick<GenerationRecord, 'id' | 'createdMs'>,
  { plan, request }: Route,
  parts: Parameters<typeof limitAsSent>[0],
  adapt: AttemptsQuestion['adapt'],
): Wish {
  const candidates = [...plan.candidates, ...plan.cooling.map(({ candidate }) => candidate)];
  const adapted = adapt && candidates.map((one) => adapt(request, one)).find((one) => one !== request);
  const worstOf = (some: readonly Candidate[]): WorstCase =>
    worstCaseOf(
      adapted ?? request,
      some.map((one) => ({ endpoint: one.endpoint, maxTokens: limitAsSent(parts, request, one) })),
      createdMs,
    );
  const { nanoUsd, isOpenEnded, affordableTokens } = worstOf(
    candidates.filter(({ credential }) => credential === undefined),
  );
  const byok = candidates.filter(({ credential }) => credential !== undefined);
  // One of them serves: where both count, the dearer one is enough.
  const byokNanoUsd = byok.length === 0 ? 0 : Math.max(0, worstOf(byok).nanoUsd - nanoUsd);
  return { generationId: id, worst: { ownNanoUsd: nanoUsd, byokNanoUsd }, isOpenEnded, affordableTokens };
}
