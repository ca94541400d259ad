import { auditEventResource, type AuditEvent } from '../../resources/audit-events.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';

const { toColumns, toRow } = auditEventResource.rows;

export interface AuditFilter extends PageWindow {
  readonly action?: string;
  readonly actorKeyHash?: string;
  readonly subject?: string;
  /** Unix ms, from this one on. */
  readonly fromMs?: number;
  /** Unix ms, before this one. */
  readonly toMs?: number;
}

/** Events are only ever inserted. */
export interface AuditStore {
  append(event: AuditEvent): Promise<void>;
  /** Lists the newest first. */
  list(filter: AuditFilter): Promise<Page<AuditEvent>>;
}

export function createAuditStore({ database }: { readonly database: Database }): AuditStore {
  const { kysely } = database;
  return {
    async append(event) {
      await kysely.insertInto('audit_events').values(toColumns(event)).execute();
    },
    async list({ action, actorKeyHash, subject, fromMs, toMs, ...window }) {
      let found = kysely.selectFrom('audit_events');
      if (action !== undefined) found = found.where('action', '=', action);
      if (actorKeyHash !== undefined) found = found.where('actor_key_hash', '=', actorKeyHash);
      if (subject !== undefined) found = found.where('subject', '=', subject);
      if (fromMs !== undefined) found = found.where('at_ms', '>=', fromMs);
      if (toMs !== undefined) found = found.where('at_ms', '<', toMs);
      return fetchPage(found, window, (each) => each.selectAll().orderBy('at_ms', 'desc').orderBy('id', 'desc'), toRow);
    },
  };
}
