import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { createReadThroughCache } from '../../lib/cache/read-through-cache.ts';
import type { PolicySubject, ReadPolicyLayers } from '../../store/accounts/policy-layers.ts';
import { policyFrom, type Policy } from './policy.ts';

/** Policies of keys that were in use lately. */
export interface PolicyCache {
  /**
   * At once when it is fresh, else a promise.
   * @throws GatewayError 503 while it cannot be read and was not read lately; as a rejection
   */
  policyOf(subject: PolicySubject): Policy | Promise<Policy>;
  /** Something that policies are made of has changed, here or, as another process announced it, there. */
  forget(): void;
  /** Something may have changed: everything is read again before it serves, unless nothing can be read. */
  outdate(): void;
}

export interface PolicyCacheDeps {
  readonly read: ReadPolicyLayers;
  readonly clock: Clock;
}

/** A change by another process that was not announced counts after this. */
const FRESH_MS = 5_000;
/** While the database is away a policy goes on counting for so long. @spec guardrail-15 */
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
    nowMs: () => clock.monotonicMs(),
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

/** Made once for who asks again and again, a name is not hashed again either. */
const names = new WeakMap<PolicySubject, string>();

/** Only the last part may hold anything. */
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
