import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { createReadThroughCache } from '../../lib/cache/read-through-cache.ts';
import type { PolicySubject, ReadPolicyLayers } from '../../store/accounts/policy-layers.ts';
import { policyFrom, type Policy } from './policy.ts';

/** The policies of keys in recent use. */
export interface PolicyCache {
  /**
   * Returns the policy at once when it is fresh, else as a promise.
   * @throws GatewayError 503 while it cannot be read and was not read recently; as a rejection
   */
  policyOf(subject: PolicySubject): Policy | Promise<Policy>;
  /**
   * Drops all policies, because something that they depend on has changed here or, as announced, in another process.
   */
  forget(): void;
  /** Marks all policies as possibly outdated: each is read again before its next use, unless it cannot be read. */
  outdate(): void;
}

export interface PolicyCacheDeps {
  readonly read: ReadPolicyLayers;
  readonly clock: Clock;
}

/** A change by another process that was not announced takes effect after this. */
const FRESH_MS = 5_000;
/** While the database is away a policy stays valid for so long. @spec guardrail-15 */
const STALE_MS_MAX = 10 * 60_000;
/** A database that does not answer within this time is away. */
const READ_MS_MAX = 1_000;
const POLICIES_MAX = 10_000;

export function createPolicyCache({ read, clock }: PolicyCacheDeps): PolicyCache {
  const policies = createReadThroughCache({
    async read(name) {
      const subject = subjectOf(name);
      return policyFrom(subject, await read(subject));
    },
    nowMs: clock.monotonicMs,
    freshMs: FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: READ_MS_MAX,
    entriesMax: POLICIES_MAX,
  });
  return {
    policyOf(subject) {
      const policy = policies.get(nameOf(subject));
      return policy instanceof Promise ? policy.catch(throwCannotRead) : policy;
    },
    forget: () => policies.invalidate(),
    outdate: () => policies.markStale(),
  };
}

/** Names by subject: for the subject of a repeated caller, the name is not built and hashed again. */
const names = new WeakMap<PolicySubject, string>();

/** Only the last part may contain any character. */
function nameOf(subject: PolicySubject): string {
  const known = names.get(subject);
  if (known !== undefined) return known;
  const { keyHash, workspaceId, memberId } = subject;
  const name = memberId === null ? `${keyHash} ${workspaceId}` : `${keyHash} ${workspaceId} ${memberId}`;
  names.set(subject, name);
  return name;
}

function subjectOf(name: string): PolicySubject {
  const [keyHash = '', workspaceId = '', ...member] = name.split(' ');
  return { keyHash, workspaceId, memberId: member.length === 0 ? null : member.join(' ') };
}

function throwCannotRead(cause: unknown): never {
  throw new GatewayError('provider_overloaded', 'The rules of this API key cannot be read at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}
