import type { ProviderPreferences } from '../canonical/directives.ts';
import type { Endpoint } from '../catalog/model.ts';
import { matchesProvider } from './preferences.ts';

/** A suffix of a model's slug that says how to choose among its endpoints. @source generation.md 3.8 */
export type Shortcut = 'nitro' | 'floor' | 'exacto';

/** Which capacity of special tiers a request may use. @source generation.md 3.5 */
export interface TierPool {
  readonly priority: boolean;
  readonly flex: boolean;
  /** Capacity of the tier alone, where there is any: who asks for `flex` does not want to pay for more. */
  readonly flexOnly: boolean;
}

export function tierPoolOf(
  asked: string | undefined,
  shortcut: Shortcut | undefined,
  preferences: ProviderPreferences,
  endpoints: readonly Endpoint[],
): TierPool {
  const mayAdmit = asked !== 'default' && preferences.order === undefined;
  const flexOnly = asked === 'flex' && endpoints.some(({ serviceTier }) => serviceTier === 'flex');
  return {
    priority: asked === 'priority' || (shortcut === 'nitro' && mayAdmit),
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
