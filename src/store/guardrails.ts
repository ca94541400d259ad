import { z } from 'zod';
import { BUILTIN_FILTER_SLUGS, type GuardrailRules } from '../canonical/guardrail-rules.ts';
import type { Database } from './database.ts';
import type { Page, PageWindow } from './page.ts';
import { flagOf, numberOf } from './portable.ts';
import type { GuardrailsTable } from './tables.ts';

export interface GuardrailRow {
  readonly id: string;
  /** Null: attached to none. It only files the guardrail. */
  readonly workspaceId: string | null;
  readonly name: string;
  readonly description: string | null;
  /** Of each key or member by itself. */
  readonly limitNanoUsd: number | null;
  readonly resetInterval: GuardrailsTable['reset_interval'];
  readonly includeByokInBudgets: boolean;
  readonly rules: GuardrailRules;
  readonly createdAtMs: number;
  /** Null until the first change. */
  readonly updatedAtMs: number | null;
}

export interface GuardrailStore {
  find(id: string): Promise<GuardrailRow | undefined>;
  /** Newest first. */
  list(workspaceId: string, window: PageWindow): Promise<Page<GuardrailRow>>;
  insert(row: GuardrailRow): Promise<void>;
  /**
   * Changes a guardrail that nobody else changes meanwhile.
   * @param fallback what is changed where there is none, and inserted
   * @param revise gives the guardrail after the change; what it throws stops the change
   */
  update(
    id: string,
    revise: (row: GuardrailRow) => GuardrailRow,
    fallback?: GuardrailRow,
  ): Promise<GuardrailRow | undefined>;
  /** With its assignments. Whether there was one. */
  remove(id: string): Promise<boolean>;
}

export function createGuardrailStore({ database }: { readonly database: Database }): GuardrailStore {
  const { kysely } = database;
  const all = () => kysely.selectFrom('guardrails').selectAll();
  return {
    async find(id) {
      const columns = await all().where('id', '=', id).executeTakeFirst();
      return columns && guardrailOf(columns);
    },
    async list(workspaceId, { offset, limit }) {
      const [rows, count] = await Promise.all([
        all()
          .where('workspace_id', '=', workspaceId)
          .orderBy('created_at_ms', 'desc')
          .orderBy('id')
          .limit(limit)
          .offset(offset)
          .execute(),
        kysely
          .selectFrom('guardrails')
          .where('workspace_id', '=', workspaceId)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirst(),
      ]);
      return { rows: rows.map(guardrailOf), totalCount: numberOf(count?.count) };
    },
    async insert(row) {
      await kysely.insertInto('guardrails').values(columnsOf(row)).execute();
    },
    update: (id, revise, fallback) => updateGuardrail(database, id, revise, fallback),
    remove: (id) =>
      kysely.transaction().execute(async (transaction) => {
        const removed = await transaction.deleteFrom('guardrails').where('id', '=', id).returning('id').execute();
        await transaction.deleteFrom('guardrail_assignments').where('guardrail_id', '=', id).execute();
        return removed.length > 0;
      }),
  };
}

function updateGuardrail(
  database: Database,
  id: string,
  revise: (row: GuardrailRow) => GuardrailRow,
  fallback: GuardrailRow | undefined,
): Promise<GuardrailRow | undefined> {
  return database.kysely.transaction().execute(async (transaction) => {
    if (fallback !== undefined)
      await transaction
        .insertInto('guardrails')
        .values(columnsOf(fallback))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    // A change of nothing, which makes others wait: the rules are one column, and a change of a part reads all of it.
    const columns = await transaction
      .updateTable('guardrails')
      .set((set) => ({ name: set.ref('name') }))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (columns === undefined) return undefined;
    const { id: _id, ...revised } = columnsOf(revise(guardrailOf(columns)));
    await transaction.updateTable('guardrails').set(revised).where('id', '=', id).execute();
    return guardrailOf({ id, ...revised });
  });
}

const names = z.array(z.string()).readonly().nullable();
const permission = z.boolean().nullable();
const action = z.enum(['redact', 'block', 'flag']);

const rulesSchema = z.strictObject({
  allowedProviders: names,
  ignoredProviders: names,
  allowedModels: names,
  ignoredModels: names,
  zeroRetention: z.strictObject({
    anthropic: permission,
    openai: permission,
    google: permission,
    xai: permission,
    other: permission,
  }),
  paidTraining: permission,
  freeTraining: permission,
  freePublication: permission,
  contentFilters: z
    .array(z.strictObject({ pattern: z.string(), action, label: z.string().nullable(), scanOutput: z.boolean() }))
    .readonly()
    .nullable(),
  builtinFilters: z
    .array(
      z.strictObject({
        slug: z.enum(BUILTIN_FILTER_SLUGS),
        action,
        scanScope: z.enum(['user_only', 'all_messages']),
        scanOutput: z.boolean(),
      }),
    )
    .readonly()
    .nullable(),
});

function columnsOf(row: GuardrailRow): GuardrailsTable {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    description: row.description,
    limit_nano_usd: row.limitNanoUsd,
    reset_interval: row.resetInterval,
    include_byok_in_budgets: flagOf(row.includeByokInBudgets),
    rules: JSON.stringify(row.rules),
    created_at_ms: row.createdAtMs,
    updated_at_ms: row.updatedAtMs,
  };
}

/** @throws Error for rules that nothing here wrote: a guardrail that cannot be read must not let everything through */
export function guardrailOf(columns: GuardrailsTable): GuardrailRow {
  return {
    id: columns.id,
    workspaceId: columns.workspace_id,
    name: columns.name,
    description: columns.description,
    limitNanoUsd: columns.limit_nano_usd,
    resetInterval: columns.reset_interval,
    includeByokInBudgets: columns.include_byok_in_budgets === 1,
    rules: rulesSchema.parse(JSON.parse(columns.rules)),
    createdAtMs: columns.created_at_ms,
    updatedAtMs: columns.updated_at_ms,
  };
}
