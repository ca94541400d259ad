import { setBounded } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';

/** Why an endpoint rests, and until when. */
export interface Cooldown {
  /** Monotonic ms. */
  readonly untilMs: number;
  /** The upstream named the time itself: it must not be asked earlier. */
  readonly named: boolean;
}

/** What is known of endpoints from the traffic so far. Endpoints are named `provider model`. */
export interface Health {
  /** The cooldown of an endpoint; `undefined` when it may be tried. */
  cooldown(endpoint: string): Cooldown | undefined;
  /** Lets an endpoint rest. A cooldown only ever grows longer (pains.md 8). */
  cool(endpoint: string, ms: number, named: boolean): void;
  /** An attempt succeeded: the endpoint may be tried again at once. */
  recover(endpoint: string): void;
}

/** Bound on remembered endpoints; the oldest is forgotten, which only means that it may be tried. */
const ENDPOINTS_MAX = 10_000;

export function createHealth({ clock }: { readonly clock: Clock }): Health {
  const cooldowns = new Map<string, Cooldown>();
  return {
    cooldown(endpoint) {
      const known = cooldowns.get(endpoint);
      if (known === undefined || known.untilMs > clock.monotonicMs()) return known;
      cooldowns.delete(endpoint);
      return undefined;
    },
    cool(endpoint, ms, named) {
      const untilMs = clock.monotonicMs() + ms;
      const known = cooldowns.get(endpoint);
      if (known !== undefined && known.untilMs >= untilMs) return;
      setBounded(cooldowns, endpoint, { untilMs, named: named || (known?.named ?? false) }, ENDPOINTS_MAX);
    },
    recover(endpoint) {
      cooldowns.delete(endpoint);
    },
  };
}
