import { sql, type Kysely, type RawBuilder } from 'kysely';
import { ledgerEntryResource, type EntryKind, type LedgerEntry } from '../../resources/ledger-entries.ts';
import type { Database } from '../engine/database.ts';
import { DatabaseError } from '../engine/database-error.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import { chargeId } from '../journal/charges.ts';
import type { Tables } from '../tables.ts';
import { compareLedger, type Comparison } from './verify-ledger.ts';

const { toColumns, toRow } = ledgerEntryResource.rows;

export type Refund = Omit<LedgerEntry, 'kind' | 'amountNanoUsd'> & {
  readonly generationId: string;
  /** Absent: the whole rest. */
  readonly amountNanoUsd?: number;
};

/** The ledger's entry under the id of an entry that was to be added. */
export interface EntryResult {
  readonly entry: LedgerEntry;
  /** False: the entry existed before, and nothing was added. It may differ from the new one. */
  readonly isNew: boolean;
}

/** Nano-USD. */
export interface LedgerTotals {
  /** The sum of all entries except usage. */
  readonly credits: number;
  /** The usage, as a positive number. */
  readonly usage: number;
}

export interface EntryFilter extends PageWindow {
  readonly accountId: string;
  readonly kind?: EntryKind;
  readonly keyHash?: string;
  readonly workspaceId?: string;
}

/** Entries are only ever added; a generation's cost is added with the generation (`settlement.ts`). */
export interface LedgerStore {
  /** Adds an entry. One id is one entry, however often it is sent. */
  append(entry: LedgerEntry): Promise<EntryResult>;
  /** Refunds a generation, at most the rest of its charge. One id is one entry here too. */
  refund(refundInput: Refund): Promise<EntryResult | { readonly leftNanoUsd: number }>;
  /** Sums all entries, nano-USD: from the entries that are no charges, and from the sums of spending. */
  balance(accountId: string): Promise<number>;
  totals(accountId: string): Promise<LedgerTotals>;
  /** Lists the newest first. */
  list(filter: EntryFilter): Promise<Page<LedgerEntry>>;
  /** Compares generations, entries and sums. It reads every row. */
  verify(accountId: string): Promise<Comparison>;
}

export function createLedgerStore({ database }: { readonly database: Database }): LedgerStore {
  const totals: LedgerStore['totals'] = (accountId) => readTotals(database, accountId);
  return {
    totals,
    append: (entry) => append(database, entry),
    refund: (entry) => refund(database, entry),
    async balance(accountId) {
      const { credits, usage } = await totals(accountId);
      return credits - usage;
    },
    async list({ accountId, kind, keyHash, workspaceId, ...window }) {
      let found = database.reports.selectFrom('ledger_entries').where('account_id', '=', accountId);
      if (kind !== undefined) found = found.where('kind', '=', kind);
      if (keyHash !== undefined) found = found.where('key_hash', '=', keyHash);
      if (workspaceId !== undefined) found = found.where('workspace_id', '=', workspaceId);
      return fetchPage(found, window, (each) => each.selectAll().orderBy('at_ms', 'desc').orderBy('id', 'desc'), toRow);
    },
    verify: (accountId) => compareLedger(database, accountId),
  };
}

async function append({ kysely }: Database, entry: LedgerEntry): Promise<EntryResult> {
  try {
    await kysely.insertInto('ledger_entries').values(toColumns(entry)).execute();
    return { entry, isNew: true };
  } catch (error) {
    const known = error instanceof DatabaseError && error.duplicate ? await find(kysely, entry.id) : undefined;
    if (known === undefined) throw error;
    return { entry: known, isNew: false };
  }
}

async function find(kysely: Kysely<Tables>, id: string): Promise<LedgerEntry | undefined> {
  const columns = await kysely.selectFrom('ledger_entries').selectAll().where('id', '=', id).executeTakeFirst();
  return columns && toRow(columns);
}

/** The kinds of entries that count for the rest of a charge: the charge and earlier refunds. */
const REFUNDABLE = ['usage', 'byok_fee', 'refund'] as const satisfies readonly EntryKind[];

function entriesOf({ accountId, generationId }: Refund, kind: EntryKind): RawBuilder<unknown> {
  const isOne = kind === 'usage' ? sql`id = ${chargeId(generationId)}` : sql`generation_id = ${generationId}`;
  return sql`select amount_nano_usd from ledger_entries
    where ${isOne} and kind = ${sql.lit(kind)} and account_id = ${accountId}`;
}

function refund(database: Database, refundInput: Refund): ReturnType<LedgerStore['refund']> {
  return database.runAlone('refund', async (transaction) => {
    const known = await find(transaction, refundInput.id);
    if (known !== undefined) return { entry: known, isNew: false };
    const { rows } = await sql<{ nano_usd: number | string | null }>`
      select sum(amount_nano_usd) as nano_usd from (${sql.join(
        REFUNDABLE.map((kind) => entriesOf(refundInput, kind)),
        sql` union all `,
      )}) as entries`.execute(transaction);
    const leftNanoUsd = -numberOf(rows[0]?.nano_usd);
    const { amountNanoUsd = leftNanoUsd } = refundInput;
    if (amountNanoUsd <= 0 || amountNanoUsd > leftNanoUsd) return { leftNanoUsd };
    const entry: LedgerEntry = { ...refundInput, kind: 'refund', amountNanoUsd };
    await transaction.insertInto('ledger_entries').values(toColumns(entry)).execute();
    return { entry, isNew: true };
  });
}

/**
 * Reads in one statement, and so at one moment: a charge between two statements would be counted once or not at all.
 */
async function readTotals({ kysely }: Database, accountId: string): Promise<LedgerTotals> {
  // The sums are doubles: an integer sum above 2^53 would be an error, and up to there a double is exact.
  const { rows } = await sql<{ kind: 'usage' | 'byok_fee' | 'credit'; nano_usd: number | null }>`
    select case kind when 'byok_fee' then 'byok_fee' else 'credit' end as kind,
      sum(cast(amount_nano_usd as double precision)) as nano_usd
    from ledger_entries where account_id = ${accountId} and kind <> 'usage' group by 1
    union all
    select 'usage', sum(cast(nano_usd as double precision)) from spend
    where subject = ${`account:${accountId}`} and is_byok = 0`.execute(kysely);
  const sumOf = (kind: string): number => numberOf(rows.find((row) => row.kind === kind)?.nano_usd);
  return { credits: sumOf('credit'), usage: sumOf('usage') - sumOf('byok_fee') };
}
