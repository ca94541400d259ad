import type { Clock } from '../lib/clock.ts';
import { randomText } from '../lib/ids.ts';
import type { JsonObject } from '../lib/json.ts';
import type { AuditEvent } from '../resources/audit-events.ts';
import type { AuditFilter, AuditStore } from '../store/accounts/audit.ts';
import type { Page } from '../store/engine/page.ts';
import type { Principal } from './principal.ts';

/** The author of a change: a key, the person at the command line, or an address without a key. */
export type Actor = Pick<Principal, 'keyHash' | 'label'> | 'command line' | { readonly address: string };

/** A change that was made. It must hold no secret. */
export interface Change {
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  readonly changes: JsonObject;
}

/** The record of changes: what was changed, by which key, and when. */
export interface Audit {
  /** Never rejects: the change was made already. */
  record(change: Change): Promise<void>;
  /** Calls a listener with each change from now on; it must not throw. */
  watch(listener: (change: Change) => void): void;
  /** Lists the newest first. */
  list(filter: AuditFilter): Promise<Page<AuditEvent>>;
}

export interface AuditDeps {
  readonly store: AuditStore;
  readonly clock: Clock;
  /** Gets an event that could not be stored. */
  readonly onLost: (event: AuditEvent, error: unknown) => void;
}

/** The size of one event's changes; beyond it only the names of the fields are kept. */
const CHANGES_CHARS_MAX = 16_384;

export function createAudit({ store, clock, onLost }: AuditDeps): Audit {
  const listeners: ((change: Change) => void)[] = [];
  return {
    watch: (listener) => void listeners.push(listener),
    async record(change) {
      const { actor, action, subject, changes } = change;
      for (const listener of listeners) listener(change);
      const atMs = clock.nowMs();
      const event: AuditEvent = {
        // The id grows with time, so that events of one ms keep an order.
        id: `audit-${String(atMs).padStart(15, '0')}-${randomText(12)}`,
        atMs,
        ...serializeActor(actor),
        action,
        subject,
        changes: limitChanges(changes),
      };
      try {
        await store.append(event);
      } catch (error) {
        onLost(event, error);
      }
    },
    list: (filter) => store.list(filter),
  };
}

function serializeActor(actor: Actor): Pick<AuditEvent, 'actorKeyHash' | 'actorLabel'> {
  if (typeof actor === 'string') return { actorKeyHash: null, actorLabel: actor };
  if ('address' in actor) return { actorKeyHash: null, actorLabel: actor.address };
  return { actorKeyHash: actor.keyHash, actorLabel: actor.label };
}

function limitChanges(changes: JsonObject): JsonObject {
  if (JSON.stringify(changes).length <= CHANGES_CHARS_MAX) return changes;
  return Object.fromEntries(Object.keys(changes).map((name) => [name, '(changed)']));
}
