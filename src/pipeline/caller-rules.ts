import type { Policy } from '../accounts/policy.ts';
import type { Principal } from '../accounts/principal.ts';
import type { SpendLimit } from '../accounts/spend-limit.ts';
import type { CredentialsOf } from '../routing/own-credentials.ts';

/** What rules the requests of one caller. */
export interface CallerRules {
  readonly accountId: string;
  readonly policy: Policy;
  /** Bounds on what it may spend, in the order in which they are checked. @source areas.md 0.2, 4 to 6 */
  readonly limits: readonly SpendLimit[];
  /** Something limits what it may spend. */
  readonly isLimited: boolean;
  /** Of its own. */
  readonly credentials: CredentialsOf;
}

export interface RulesParts {
  /** @throws GatewayError 503 when it cannot be read; as a rejection */
  readonly policyOf: (principal: Principal) => Policy | Promise<Policy>;
  /** @throws GatewayError 503 when they cannot be read; thrown or as a rejection */
  readonly ownCredentials: (principal: Principal) => CredentialsOf | Promise<CredentialsOf>;
  readonly ledger: { isLimited(limits: readonly SpendLimit[]): boolean };
}

/** Mostly at once, from what was read a moment ago, else a promise. @throws GatewayError 503; thrown or as a rejection */
export function readCallerRules(parts: RulesParts, principal: Principal): CallerRules | Promise<CallerRules> {
  const policy = parts.policyOf(principal);
  const credentials = parts.ownCredentials(principal);
  if (policy instanceof Promise || credentials instanceof Promise)
    return Promise.all([policy, credentials]).then((read) => rulesOf(parts, principal, ...read));
  return rulesOf(parts, principal, policy, credentials);
}

function rulesOf(
  parts: Pick<RulesParts, 'ledger'>,
  principal: Principal,
  policy: Policy,
  credentials: CredentialsOf,
): CallerRules {
  const limits = principal.spendLimit === undefined ? policy.limits : [principal.spendLimit, ...policy.limits];
  const { accountId } = principal;
  return { accountId, policy, limits, isLimited: parts.ledger.isLimited(limits), credentials };
}
