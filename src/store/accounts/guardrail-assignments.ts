import { keyAssignmentResource, type AssignedKind, type AssignmentRow } from '../../resources/guardrail-assignments.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';

const { toColumns, toRow } = keyAssignmentResource.rows;

export interface KeyAssignmentRow extends AssignmentRow {
  readonly keyName: string;
  readonly keyLabel: string;
}

export interface AssignmentStore {
  /** Lists assignments of one guardrail or of all, newest first, without those of deleted keys. */
  listKeys(guardrailId: string | undefined, window: PageWindow): Promise<Page<KeyAssignmentRow>>;
  listMembers(guardrailId: string | undefined, window: PageWindow): Promise<Page<AssignmentRow>>;
  /**
   * Assigns one guardrail to all of these subjects, in place of any that they have. Changes nothing where one of them
   * is not an existing normal key.
   * @param rows of one guardrail
   */
  assign(kind: AssignedKind, guardrailId: string, rows: readonly AssignmentRow[]): Promise<AssignOutcome>;
  /** Returns whether the subject has any guardrail. */
  has(kind: AssignedKind, subjectId: string): Promise<boolean>;
  /** Returns how many of these had the guardrail. */
  unassign(kind: AssignedKind, guardrailId: string, subjectIds: readonly string[]): Promise<number>;
}

export type AssignOutcome =
  | { readonly outcome: 'assigned' | 'unknown-guardrail' }
  | { readonly outcome: 'unknown-keys'; readonly hashes: readonly string[] };

export function createAssignmentStore({ database }: { readonly database: Database }): AssignmentStore {
  const { kysely } = database;
  return {
    listKeys: (guardrailId, window) => listKeys(database, guardrailId, window),
    listMembers: (guardrailId, window) => listMembers(database, guardrailId, window),
    assign: (kind, guardrailId, rows) => assign(database, kind, guardrailId, rows),
    async has(kind, subjectId) {
      const assigned = await kysely
        .selectFrom('guardrail_assignments')
        .select('id')
        .where('subject_kind', '=', kind)
        .where('subject_id', '=', subjectId)
        .executeTakeFirst();
      return assigned !== undefined;
    },
    async unassign(kind, guardrailId, subjectIds) {
      const removed = await kysely
        .deleteFrom('guardrail_assignments')
        .where('guardrail_id', '=', guardrailId)
        .where('subject_kind', '=', kind)
        .where('subject_id', 'in', subjectIds)
        .returning('id')
        .execute();
      return removed.length;
    },
  };
}

async function listKeys(
  { kysely }: Database,
  guardrailId: string | undefined,
  window: PageWindow,
): Promise<Page<KeyAssignmentRow>> {
  let assigned = kysely
    .selectFrom('guardrail_assignments')
    .innerJoin('keys', 'keys.hash', 'guardrail_assignments.subject_id')
    .where('subject_kind', '=', 'key')
    .where('keys.deleted_at_ms', 'is', null);
  if (guardrailId !== undefined) assigned = assigned.where('guardrail_id', '=', guardrailId);
  return fetchPage(
    assigned,
    window,
    (found) =>
      found
        .selectAll('guardrail_assignments')
        .select(['keys.name as key_name', 'keys.label as key_label'])
        .orderBy('guardrail_assignments.created_at_ms', 'desc')
        .orderBy('guardrail_assignments.id'),
    (columns) => ({ ...toRow(columns), keyName: columns.key_name, keyLabel: columns.key_label }),
  );
}

async function listMembers(
  { kysely }: Database,
  guardrailId: string | undefined,
  window: PageWindow,
): Promise<Page<AssignmentRow>> {
  let assigned = kysely.selectFrom('guardrail_assignments').where('subject_kind', '=', 'member');
  if (guardrailId !== undefined) assigned = assigned.where('guardrail_id', '=', guardrailId);
  return fetchPage(
    assigned,
    window,
    (found) => found.selectAll().orderBy('created_at_ms', 'desc').orderBy('id'),
    toRow,
  );
}

function assign(
  database: Database,
  kind: AssignedKind,
  guardrailId: string,
  rows: readonly AssignmentRow[],
): Promise<AssignOutcome> {
  return database.kysely.transaction().execute(async (transaction): Promise<AssignOutcome> => {
    // An update that changes nothing locks the guardrail: it cannot be deleted before the transaction ends.
    const guardrail = await transaction
      .updateTable('guardrails')
      .set((set) => ({ name: set.ref('name') }))
      .where('id', '=', guardrailId)
      .returning('id')
      .executeTakeFirst();
    if (guardrail === undefined) return { outcome: 'unknown-guardrail' };
    if (kind === 'key') {
      const wanted = rows.map(({ subjectId }) => subjectId);
      const found = await transaction
        .selectFrom('keys')
        .select('hash')
        .where('hash', 'in', wanted)
        .where('kind', '=', 'normal')
        .where('deleted_at_ms', 'is', null)
        .execute();
      const unknown = new Set(wanted).difference(new Set(found.map(({ hash }) => hash)));
      if (unknown.size > 0) return { outcome: 'unknown-keys', hashes: [...unknown] };
    }
    await transaction
      .insertInto('guardrail_assignments')
      .values(rows.map((row) => ({ ...toColumns(row), subject_kind: kind })))
      .onConflict((conflict) =>
        conflict.columns(['subject_kind', 'subject_id']).doUpdateSet((set) => ({
          id: set.ref('excluded.id'),
          guardrail_id: set.ref('excluded.guardrail_id'),
          assigned_by: set.ref('excluded.assigned_by'),
          created_at_ms: set.ref('excluded.created_at_ms'),
        })),
      )
      .execute();
    return { outcome: 'assigned' };
  });
}
