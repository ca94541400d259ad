import type { Policy } from '../../accounts/policy/policy.ts';
import { conversationScope, type Principal } from '../../accounts/principal.ts';
import type { SpendLimit } from '../../accounts/limits/spend-limit.ts';
import type { CredentialsOf } from '../../routing/route-plan.ts';
import type { CallerRules } from '../request.ts';

export interface RulesDeps {
  /** @throws GatewayError 503 when it cannot be read; as a rejection */
  readonly policyOf: (principal: Principal) => Policy | Promise<Policy>;
  /** @throws GatewayError 503 when they cannot be read; thrown or as a rejection */
  readonly byokCredentials: (principal: Principal) => CredentialsOf | Promise<CredentialsOf>;
  readonly ledger: { isLimited(limits: readonly SpendLimit[]): boolean };
}

/** Mostly at once, from what was read a moment ago, else a promise. @throws GatewayError 503; thrown or as a rejection */
export function readCallerRules(deps: RulesDeps, principal: Principal): CallerRules | Promise<CallerRules> {
  const policy = deps.policyOf(principal);
  const credentials = deps.byokCredentials(principal);
  if (policy instanceof Promise || credentials instanceof Promise)
    return Promise.all([policy, credentials]).then((read) => rulesOf(deps, principal, ...read));
  return rulesOf(deps, principal, policy, credentials);
}

function rulesOf(
  deps: Pick<RulesDeps, 'ledger'>,
  principal: Principal,
  policy: Policy,
  credentials: CredentialsOf,
): CallerRules {
  const limits = principal.spendLimit === undefined ? policy.limits : [principal.spendLimit, ...policy.limits];
  const scope = conversationScope(principal);
  return { scope, policy, limits, isLimited: deps.ledger.isLimited(limits), credentials };
}
