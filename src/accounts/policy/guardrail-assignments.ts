import { randomUUID } from 'node:crypto';
import { invalid } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AssignedKind, AssignmentRow } from '../../resources/guardrail-assignments.ts';
import type { AssignmentStore, AssignOutcome, KeyAssignmentRow } from '../../store/accounts/guardrail-assignments.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import { noSuchGuardrail, type Guardrails } from './guardrails.ts';

export type GuardrailAssignment = AssignmentRow;
export type KeyAssignment = KeyAssignmentRow;

/**
 * The keys and members that guardrails apply to. A key has at most one guardrail, and so has a member. @spec
 * guardrail-6
 */
export interface GuardrailAssignments {
  /**
   * Lists the newest first.
   * @param guardrailId absent: every guardrail.
   * @throws GatewayError 404 when there is no such guardrail
   */
  listKeys(guardrailId: string | undefined, window: PageWindow): Promise<Page<KeyAssignment>>;
  listMembers(guardrailId: string | undefined, window: PageWindow): Promise<Page<GuardrailAssignment>>;
  /**
   * Assigns a guardrail to all subjects or none, in place of what they have. Returns how many have it now.
   * @param assignedBy the hash of the calling key
   * @throws GatewayError 400 for a hash that is no normal key, 404 when there is no such guardrail
   */
  assign(kind: AssignedKind, guardrailId: string, subjectIds: readonly string[], assignedBy: string): Promise<number>;
  /** Returns how many of them had it. @throws GatewayError 404 when there is no such guardrail */
  unassign(kind: AssignedKind, guardrailId: string, subjectIds: readonly string[]): Promise<number>;
}

export interface GuardrailAssignmentsDeps {
  readonly store: AssignmentStore;
  readonly guardrails: Pick<Guardrails, 'get'>;
  readonly clock: Clock;
  /** Runs when rules of requests have changed. */
  readonly onChange: () => void;
}

export function createGuardrailAssignments(deps: GuardrailAssignmentsDeps): GuardrailAssignments {
  const { store, guardrails, clock, onChange } = deps;
  return {
    async listKeys(guardrailId, window) {
      if (guardrailId !== undefined) await guardrails.get(guardrailId);
      return store.listKeys(guardrailId, window);
    },
    async listMembers(guardrailId, window) {
      if (guardrailId !== undefined) await guardrails.get(guardrailId);
      return store.listMembers(guardrailId, window);
    },
    async assign(kind, guardrailId, subjectIds, assignedBy) {
      const createdAtMs = clock.nowMs();
      const rows = [...new Set(subjectIds)].map((subjectId): AssignmentRow => ({
        id: randomUUID(),
        guardrailId,
        subjectId,
        assignedBy,
        createdAtMs,
      }));
      const outcome = await store.assign(kind, guardrailId, rows);
      onChange();
      throwRefused(outcome, subjectIds);
      return rows.length;
    },
    async unassign(kind, guardrailId, subjectIds) {
      await guardrails.get(guardrailId);
      const count = await store.unassign(kind, guardrailId, subjectIds);
      onChange();
      return count;
    },
  };
}

function throwRefused(outcome: AssignOutcome, hashes: readonly string[]): void {
  if (outcome.outcome === 'unknown-guardrail') throw noSuchGuardrail();
  if (outcome.outcome !== 'unknown-keys') return;
  const index = hashes.findIndex((hash) => outcome.hashes.includes(hash));
  assert(index >= 0, 'an unknown key was among the requested ones');
  throw invalid(`key_hashes[${index}]`, 'is not a normal API key of this account');
}
