import type { ProviderPreferences } from '../canonical/directives.ts';
import type { Endpoint } from '../catalog/model.ts';
import { matchesProvider } from './preferences.ts';
import type { Shortcut } from './route-plan.ts';

/** Which capacity of special tiers a request may use. @spec route-30 */
export interface TierPool {
  readonly priority: boolean;
  readonly flex: boolean;
  /** Only capacity of the tier, where available: a request for `flex` must not cost more. */
  readonly flexOnly: boolean;
}

export function tierPoolOf(
  requested: string | undefined,
  shortcut: Shortcut | undefined,
  preferences: ProviderPreferences,
  endpoints: readonly Endpoint[],
): TierPool {
  const mayAdmit = requested !== 'default' && preferences.order === undefined;
  const flexOnly = requested === 'flex' && endpoints.some(({ serviceTier }) => serviceTier === 'flex');
  return {
    priority: requested === 'priority' || (shortcut === 'nitro' && mayAdmit),
    flex: flexOnly || (shortcut === 'floor' && mayAdmit),
    flexOnly,
  };
}

/** Whether an endpoint's capacity is in the pool, or was named by the caller. */
export function isInPool(endpoint: Endpoint, pool: TierPool, { order, only }: ProviderPreferences): boolean {
  const { serviceTier } = endpoint;
  if (serviceTier === undefined) return !pool.flexOnly;
  if (pool[serviceTier]) return true;
  const named = (names: readonly string[] | undefined): boolean =>
    names?.some((name) => matchesProvider(name, endpoint)) === true;
  return named(only) || named(order);
}
