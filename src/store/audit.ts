import { parseJsonObject, type JsonObject } from '../lib/json.ts';
import type { Database } from './database.ts';
import type { Page, PageWindow } from './page.ts';
import { numberOf } from './portable.ts';
import type { AuditEventsTable } from './tables.ts';

/** One change that somebody made. It holds no secret. */
export interface AuditEvent {
  readonly id: string;
  readonly atMs: number;
  /** Null: not by a key. */
  readonly actorKeyHash: string | null;
  readonly actorLabel: string;
  /** What was done: `updateKey`. */
  readonly action: string;
  /** To what: `/keys/HASH`. */
  readonly subject: string;
  /** Members and what they were set to. */
  readonly changes: JsonObject;
}

export interface AuditFilter extends PageWindow {
  readonly action?: string;
  readonly actorKeyHash?: string;
  readonly subject?: string;
}

/** Events are only ever added. */
export interface AuditStore {
  append(event: AuditEvent): Promise<void>;
  /** Newest first. */
  list(filter: AuditFilter): Promise<Page<AuditEvent>>;
}

export function createAuditStore({ database }: { readonly database: Database }): AuditStore {
  const { kysely } = database;
  return {
    async append(event) {
      await kysely.insertInto('audit_events').values(columnsOf(event)).execute();
    },
    async list({ action, actorKeyHash, subject, offset, limit }) {
      let found = kysely.selectFrom('audit_events');
      if (action !== undefined) found = found.where('action', '=', action);
      if (actorKeyHash !== undefined) found = found.where('actor_key_hash', '=', actorKeyHash);
      if (subject !== undefined) found = found.where('subject', '=', subject);
      const [rows, count] = await Promise.all([
        found.selectAll().orderBy('at_ms', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute(),
        found.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst(),
      ]);
      return { rows: rows.map(eventOf), totalCount: numberOf(count?.count) };
    },
  };
}

function columnsOf(event: AuditEvent): AuditEventsTable {
  return {
    id: event.id,
    at_ms: event.atMs,
    actor_key_hash: event.actorKeyHash,
    actor_label: event.actorLabel,
    action: event.action,
    subject: event.subject,
    changes: JSON.stringify(event.changes),
  };
}

function eventOf(columns: AuditEventsTable): AuditEvent {
  return {
    id: columns.id,
    atMs: columns.at_ms,
    actorKeyHash: columns.actor_key_hash,
    actorLabel: columns.actor_label,
    action: columns.action,
    subject: columns.subject,
    // An odd row must not hide the others.
    changes: parseJsonObject(columns.changes) ?? {},
  };
}
