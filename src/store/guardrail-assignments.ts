import type { Database } from './database.ts';
import type { Page, PageWindow } from './page.ts';
import { numberOf } from './portable.ts';
import type { GuardrailAssignmentsTable } from './tables.ts';

/** Whom a guardrail is assigned to: a key by its hash, a member by the user's id. */
export type AssignedKind = GuardrailAssignmentsTable['subject_kind'];

export interface AssignmentRow {
  readonly id: string;
  readonly guardrailId: string;
  readonly subjectId: string;
  /** The hash of a management key. */
  readonly assignedBy: string | null;
  readonly createdAtMs: number;
}

export interface KeyAssignmentRow extends AssignmentRow {
  readonly keyName: string;
  readonly keyLabel: string;
}

export interface AssignmentStore {
  /** Newest first; of one guardrail, or of all. Keys that are deleted are not in it. */
  listKeys(guardrailId: string | undefined, window: PageWindow): Promise<Page<KeyAssignmentRow>>;
  listMembers(guardrailId: string | undefined, window: PageWindow): Promise<Page<AssignmentRow>>;
  /**
   * Assigns one guardrail to all of these, in place of any that they have. Nothing happens where one of them is no
   * normal key that is there.
   * @param rows of one guardrail
   */
  assign(kind: AssignedKind, guardrailId: string, rows: readonly AssignmentRow[]): Promise<AssignOutcome>;
  /** Whether any guardrail is assigned to it. */
  has(kind: AssignedKind, subjectId: string): Promise<boolean>;
  /** How many of these had it. */
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
  { offset, limit }: PageWindow,
): Promise<Page<KeyAssignmentRow>> {
  let assigned = kysely
    .selectFrom('guardrail_assignments')
    .innerJoin('keys', 'keys.hash', 'guardrail_assignments.subject_id')
    .where('subject_kind', '=', 'key')
    .where('keys.deleted_at_ms', 'is', null);
  if (guardrailId !== undefined) assigned = assigned.where('guardrail_id', '=', guardrailId);
  const [rows, count] = await Promise.all([
    assigned
      .selectAll('guardrail_assignments')
      .select(['keys.name as key_name', 'keys.label as key_label'])
      .orderBy('guardrail_assignments.created_at_ms', 'desc')
      .orderBy('guardrail_assignments.id')
      .limit(limit)
      .offset(offset)
      .execute(),
    assigned.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst(),
  ]);
  return {
    rows: rows.map((row) => ({ ...assignmentOf(row), keyName: row.key_name, keyLabel: row.key_label })),
    totalCount: numberOf(count?.count),
  };
}

async function listMembers(
  { kysely }: Database,
  guardrailId: string | undefined,
  { offset, limit }: PageWindow,
): Promise<Page<AssignmentRow>> {
  let assigned = kysely.selectFrom('guardrail_assignments').where('subject_kind', '=', 'member');
  if (guardrailId !== undefined) assigned = assigned.where('guardrail_id', '=', guardrailId);
  const [rows, count] = await Promise.all([
    assigned.selectAll().orderBy('created_at_ms', 'desc').orderBy('id').limit(limit).offset(offset).execute(),
    assigned.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst(),
  ]);
  return { rows: rows.map(assignmentOf), totalCount: numberOf(count?.count) };
}

function assign(
  database: Database,
  kind: AssignedKind,
  guardrailId: string,
  rows: readonly AssignmentRow[],
): Promise<AssignOutcome> {
  return database.kysely.transaction().execute(async (transaction): Promise<AssignOutcome> => {
    // A change of nothing: the guardrail is not deleted before the end.
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
      .values(rows.map((row) => columnsOf(kind, row)))
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

function columnsOf(kind: AssignedKind, row: AssignmentRow): GuardrailAssignmentsTable {
  return {
    id: row.id,
    guardrail_id: row.guardrailId,
    subject_kind: kind,
    subject_id: row.subjectId,
    assigned_by: row.assignedBy,
    created_at_ms: row.createdAtMs,
  };
}

function assignmentOf(columns: GuardrailAssignmentsTable): AssignmentRow {
  return {
    id: columns.id,
    guardrailId: columns.guardrail_id,
    subjectId: columns.subject_id,
    assignedBy: columns.assigned_by,
    createdAtMs: columns.created_at_ms,
  };
}
