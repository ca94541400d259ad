import type { Clock } from '../lib/clock.ts';
import type { AssignmentStore } from '../store/guardrail-assignments.ts';
import type { KeyStore } from '../store/keys.ts';
import { hashKey } from './key-format.ts';
import type { StaticKeys } from './keys.ts';

/** Who may agree to a key for an application. */
export interface CodeIssuers {
  /**
   * Why the key may not, as one sentence; `undefined`: it may. A key that is ruled must not make one that is not: what
   * holds for its workspace or its member holds for the new key as well, what holds for itself alone does not.
   */
  refusalOf(keyHash: string): Promise<string | undefined>;
}

export interface CodeIssuersParts {
  readonly keys: Pick<KeyStore, 'find'>;
  readonly assignments: Pick<AssignmentStore, 'has'>;
  /** They have no rules of their own, and are there as long as the environment has them. */
  readonly staticKeys: StaticKeys;
  readonly clock: Clock;
}

export function createCodeIssuers({ keys, assignments, staticKeys, clock }: CodeIssuersParts): CodeIssuers {
  const { management, normal } = staticKeys;
  const fixed = new Set([management, normal].filter((key) => key !== undefined).map(hashKey));
  return {
    async refusalOf(keyHash) {
      if (fixed.has(keyHash)) return undefined;
      const key = await keys.find(keyHash);
      const isOver = key !== undefined && key.expiresAtMs !== null && key.expiresAtMs <= clock.nowMs();
      if (key === undefined || key.disabled || isOver) return 'The key is not valid any more.';
      if (key.kind === 'management') return undefined;
      const isRuled = key.limitNanoUsd !== null || key.expiresAtMs !== null || (await assignments.has('key', keyHash));
      return isRuled
        ? 'A key with a limit, an expiry or a guardrail of its own cannot give out further keys. Use a management key.'
        : undefined;
    },
  };
}
