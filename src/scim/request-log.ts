import { randomUUID } from 'node:crypto';
import type { Page, PageWindow } from '../store/engine/page.ts';
import type { ScimRequestRow } from '../store/scim/columns.ts';
import type { ScimRequestStore } from '../store/scim/requests.ts';
import type { ScimEvent } from './scim.ts';

export type { ScimRequestRow } from '../store/scim/columns.ts';
export type { ScimOverview } from '../store/scim/overview.ts';

/** The last requests of identity providers. It holds no bodies and no queries. @spec scim-12 */
export interface ScimRequestLog {
  note(request: Omit<ScimRequestRow, 'id'>): void;
  list(window: PageWindow): Promise<Page<ScimRequestRow>>;
  /** Writes what was noted. What could not be written is kept for the next time, within the bound. */
  flush(): Promise<void>;
  /** Forgets what is old, or too much. */
  clearAway(nowMs: number): Promise<void>;
}

const KEPT_MAX = 1_000;
const KEPT_MS = 2_592_000_000;
const OUTCOME_CHARS_MAX = 300;
const PATH_CHARS_MAX = 200;

export function createScimRequestLog(store: ScimRequestStore): ScimRequestLog {
  let waiting: ScimRequestRow[] = [];
  let lastMs = 0;
  return {
    note({ path, outcome, atMs, ...request }) {
      // In the order in which they came, where several came at once.
      lastMs = Math.max(atMs, lastMs + 1);
      waiting.push({
        ...request,
        id: randomUUID(),
        atMs: lastMs,
        path: path.slice(0, PATH_CHARS_MAX),
        outcome: outcome.slice(0, OUTCOME_CHARS_MAX),
      });
      if (waiting.length > KEPT_MAX) waiting.shift();
    },
    async list(window) {
      await this.flush();
      return store.page(window);
    },
    async flush() {
      if (waiting.length === 0) return;
      const rows = waiting;
      waiting = [];
      try {
        await store.insert(rows);
      } catch (error) {
        // They wait for the next flush, the newest before all others.
        waiting = [...rows, ...waiting].slice(-KEPT_MAX);
        throw error;
      }
    },
    clearAway: (nowMs) => store.clearAway(KEPT_MAX, nowMs - KEPT_MS),
  };
}

/** What came of a request, in words. */
export function outcomeOf(events: readonly ScimEvent[]): string {
  return events
    .map(({ action, subject, changes }) =>
      [action, subject, ...Object.entries(changes).map(([name, value]) => `${name} ${JSON.stringify(value)}`)].join(
        ' ',
      ),
    )
    .join('; ');
}
