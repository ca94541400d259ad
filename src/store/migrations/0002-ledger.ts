import { sql, type Kysely, type RawBuilder, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { text, integer } = COLUMN_TYPE;

/** Fixed, so that what was stored before workspaces existed belongs to it: `accounts/principal.ts` has the same. */
const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000001';
const DEFAULT_ACCOUNT_ID = 'default';

export async function up(schema: SchemaModule, rows: Kysely<Tables>): Promise<void> {
  await extendGenerations(schema);
  await createEntries(schema);
  await createSpend(schema);
  await enterOldGenerations(rows);
}

async function extendGenerations(schema: SchemaModule): Promise<void> {
  const add = (
    name: string,
    type: typeof text | typeof integer,
    build: Parameters<ReturnType<SchemaModule['alterTable']>['addColumn']>[2] = (column) => column,
  ) => schema.alterTable('generations').addColumn(name, type, build).execute();
  await add('workspace_id', text, (column) => column.notNull().defaultTo(DEFAULT_WORKSPACE_ID));
  await add('member_id', text);
  await add('preset_slug', text);
  await add('tokens_cache_write_1h', integer, (column) => column.notNull().defaultTo(0));
  await add('list_cost_nano_usd', integer);
  await add('upstream_cost_nano_usd', integer);
  // Spending is read from its own table now.
  await schema.dropIndex('generations_key_hash_created_at').execute();
  await schema
    .createIndex('generations_key_hash_created_at')
    .on('generations')
    .columns(['key_hash', 'created_at_ms'])
    .execute();
}

async function createEntries(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('ledger_entries')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('at_ms', integer, (column) => column.notNull())
    .addColumn('account_id', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('amount_nano_usd', integer, (column) => column.notNull())
    .addColumn('generation_id', text)
    .addColumn('key_hash', text)
    .addColumn('workspace_id', text)
    .addColumn('note', text)
    .addColumn('author', text)
    .execute();
  // One index a kind, since SQLite uses a partial one only where a query says its very condition.
  for (const kind of ['usage', 'byok_fee', 'refund'] as const) {
    const index = schema.createIndex(`ledger_entries_${kind}`).on('ledger_entries').column('generation_id');
    // A generation is charged once, whatever happens to the process that charges it; money comes back in parts.
    await (kind === 'refund' ? index : index.unique()).where(sql.ref('kind'), '=', sql.lit(kind)).execute();
  }
  await schema.createIndex('ledger_entries_at').on('ledger_entries').columns(['account_id', 'at_ms', 'id']).execute();
  // All but charges are few: a balance is their sum, less what was spent.
  await schema
    .createIndex('ledger_entries_credit')
    .on('ledger_entries')
    .columns(['account_id', 'at_ms', 'id', 'kind', 'amount_nano_usd'])
    .where(sql.ref('kind'), '<>', sql`'usage'`)
    .execute();
}

async function createSpend(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('spend')
    .addColumn('subject', text, (column) => column.notNull())
    .addColumn('day_start_ms', integer, (column) => column.notNull())
    .addColumn('is_byok', integer, (column) => column.notNull())
    .addColumn('nano_usd', integer, (column) => column.notNull())
    .addColumn('requests', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('spend_primary', ['subject', 'day_start_ms', 'is_byok'])
    .execute();
}

/** What was generated before there was a ledger counts as if it had been there. */
async function enterOldGenerations(rows: Kysely<Tables>): Promise<void> {
  await sql`
    update generations set list_cost_nano_usd = cost_nano_usd, cost_nano_usd = 0
    where is_byok = 1 and cost_nano_usd is not null`.execute(rows);
  await sql`
    insert into ledger_entries (id, at_ms, account_id, kind, amount_nano_usd, generation_id, key_hash, workspace_id)
    select id || ':usage', created_at_ms, ${sql.lit(DEFAULT_ACCOUNT_ID)}, 'usage', -cost_nano_usd, id, key_hash, workspace_id
    from generations where cost_nano_usd > 0`.execute(rows);
  const subjects = [
    sql`'key:' || key_hash`,
    sql`'workspace:' || workspace_id`,
    sql.lit(`account:${DEFAULT_ACCOUNT_ID}`),
  ];
  for (const subject of subjects) {
    await sumOldSpend(rows, subject, 'cost_nano_usd', 0);
    await sumOldSpend(rows, subject, 'list_cost_nano_usd', 1);
  }
}

async function sumOldSpend(
  rows: Kysely<Tables>,
  subject: RawBuilder<unknown>,
  cost: 'cost_nano_usd' | 'list_cost_nano_usd',
  isByok: 0 | 1,
): Promise<void> {
  const column = sql.ref(cost);
  await sql`
    insert into spend (subject, day_start_ms, is_byok, nano_usd, requests)
    select ${subject}, created_at_ms - created_at_ms % 86400000, ${sql.lit(isByok)},
      cast(sum(${column}) as bigint), count(*)
    from generations where ${isByok === 1 ? sql`${column} is not null` : sql`${column} > 0`} group by 1, 2`.execute(
    rows,
  );
}
