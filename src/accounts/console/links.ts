import type { Clock } from '../../lib/clock.ts';
import type { ConsoleLinkStore } from '../../store/accounts/console-links.ts';
import { digestOf, isSecret, newSecret } from './secrets.ts';

/** One-time links to the dashboard for operators with a shell on the machine. @spec console-3 */
export interface ConsoleLinks {
  /** Makes the secret of a link, which nothing can show again. */
  create(): Promise<string>;
  /** Uses a link up. Returns its digest; `undefined` for one that is not valid, was used, or has expired. */
  use(secret: string): Promise<string | undefined>;
}

const LINK_LIFE_MS = 10 * 60_000;

export function createConsoleLinks(deps: { readonly store: ConsoleLinkStore; readonly clock: Clock }): ConsoleLinks {
  const { store, clock } = deps;
  return {
    async create() {
      const secret = newSecret();
      const nowMs = clock.nowMs();
      await store.insert({ tokenHash: digestOf(secret), createdAtMs: nowMs, expiresAtMs: nowMs + LINK_LIFE_MS }, nowMs);
      return secret;
    },
    async use(secret) {
      if (!isSecret(secret)) return undefined;
      const digest = digestOf(secret);
      return (await store.use(digest, clock.nowMs())) ? digest : undefined;
    },
  };
}
