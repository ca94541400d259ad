import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { assert } from '../../lib/assert.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import { sumSpend, type Spend, type SpendWindows, type SubjectSpend } from '../usage/spend.ts';
import type { KeysTable, Tables } from '../tables.ts';

/** The next round finds a key that was issued while a cascade ran. */
const CASCADE_ROUNDS_MAX = 1_000;

/**
 * Locks the key that issues another one until the transaction ends, so that no cascade misses the new key.
 * @returns whether the issuer may still issue; a key from the environment, which has no row, may
 */
export async function lockIssuer(transaction: Transaction<Tables>, hash: string): Promise<boolean> {
  const issuer = await transaction
    .updateTable('keys')
    .set((set) => ({ label: set.ref('label') }))
    .where('hash', '=', hash)
    .returning(['disabled', 'deleted_at_ms'])
    .executeTakeFirst();
  return issuer === undefined || (issuer.disabled === 0 && issuer.deleted_at_ms === null);
}

/**
 * Locks the user that a key is for until the transaction ends, so that the key is there when the user is disabled.
 * @returns whether there may be such a key; an id that is no user's may have keys
 */
export async function lockOwner(transaction: Transaction<Tables>, userId: string): Promise<boolean> {
  const user = await transaction
    .updateTable('users')
    .set((set) => ({ email: set.ref('email') }))
    .where('id', '=', userId)
    .returning(['disabled_at_ms', 'deleted_at_ms'])
    .executeTakeFirst();
  return user === undefined || (user.disabled_at_ms === null && user.deleted_at_ms === null);
}

/** The change that a cascade makes to a key and to each key that it issued, directly or not. */
export type CascadingChange =
  | Pick<KeysTable, 'deleted_at_ms'>
  | (Pick<KeysTable, 'disabled' | 'updated_at_ms'> & Partial<Pick<KeysTable, 'disabled_reason'>>);

/**
 * Changes each key that this one issued, directly or through other keys, even through deleted ones. Returns their
 * hashes.
 */
export async function changeIssued(
  transaction: Transaction<Tables>,
  rootHash: string,
  change: CascadingChange,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (let round = 0; round < CASCADE_ROUNDS_MAX; round++) {
    let query = transaction
      .updateTable('keys')
      .set(change)
      .where('deleted_at_ms', 'is', null)
      .where('hash', 'in', issuedBy(rootHash));
    if ('disabled' in change) query = query.where('disabled', '<>', change.disabled);
    const rows = await query.returning('hash').execute();
    if (rows.length === 0) return changed;
    changed.push(...rows.map(({ hash }) => hash));
  }
  throw new Error('Keys are issued faster than a cascade can change them.');
}

function issuedBy(hash: string): RawBuilder<string> {
  return sql`(
    with recursive issued(hash) as (
      select hash from keys where issuer_key_hash = ${hash}
      union select keys.hash from keys join issued on keys.issuer_key_hash = issued.hash
    ) select hash from issued)`;
}

/**
 * Sums, for each of these roots, the spending of the keys whose limits the root counts. A root without such keys is
 * absent.
 */
export async function sumIssuedSpend(
  { kysely }: Pick<Database, 'kysely'>,
  roots: readonly string[],
  { dayStartMs, weekStartMs, monthStartMs }: SpendWindows,
): Promise<ReadonlyMap<string, SubjectSpend>> {
  const sums = new Map<string, SubjectSpend>();
  if (roots.length === 0) return sums;
  for (const row of await issuedSpend(kysely, roots, { dayStartMs, weekStartMs, monthStartMs })) {
    assert(row.root !== null, 'the query is for keys with a root');
    const spend: Spend = {
      total: numberOf(row.total),
      day: numberOf(row.day),
      week: numberOf(row.week),
      month: numberOf(row.month),
    };
    const known = sums.get(row.root) ?? { own: NO_SPEND, byok: NO_SPEND };
    sums.set(row.root, numberOf(row.is_byok) === 1 ? { ...known, byok: spend } : { ...known, own: spend });
  }
  return sums;
}

const NO_SPEND: Spend = { total: 0, day: 0, week: 0, month: 0 };
const NOTHING: SubjectSpend = { own: NO_SPEND, byok: NO_SPEND };

/**
 * Built rather than written as SQL text: the embedded engine sends text to its one writer, and a limit check would wait
 * behind writes.
 */
function issuedSpend(kysely: Kysely<Tables>, roots: readonly string[], windows: SpendWindows) {
  return kysely
    .selectFrom('keys')
    .innerJoin('spend', (join) => join.on('spend.subject', '=', sql<string>`'key:' || keys.hash`))
    .where('keys.root_key_hash', 'in', roots)
    .groupBy(['keys.root_key_hash', 'spend.is_byok'])
    .select(['keys.root_key_hash as root', 'spend.is_byok'])
    .select((build) => {
      // The sums are doubles: an integer sum above 2^53 would be an error, and up to there a double is exact.
      const spent = build.cast<number>('spend.nano_usd', 'double precision');
      const sumSince = (sinceMs: number) =>
        build.fn.sum<number | null>(build.case().when('spend.day_start_ms', '>=', sinceMs).then(spent).end());
      return [
        build.fn.sum<number>(spent).as('total'),
        sumSince(windows.dayStartMs).as('day'),
        sumSince(windows.weekStartMs).as('week'),
        sumSince(windows.monthStartMs).as('month'),
      ];
    })
    .execute();
}

const KEY_SUBJECT = 'key:';

/**
 * Sums what a limit on this subject counts: its own spending and, for a key, the spending of the keys that it issued.
 */
export async function sumCounted(
  database: Pick<Database, 'kysely'>,
  subject: string,
  windows: SpendWindows,
): Promise<SubjectSpend> {
  const own = async (): Promise<SubjectSpend> => (await sumSpend(database, [subject], windows)).get(subject) ?? NOTHING;
  if (!subject.startsWith(KEY_SUBJECT)) return own();
  const hash = subject.slice(KEY_SUBJECT.length);
  const [spent, issued] = await Promise.all([own(), sumIssuedSpend(database, [hash], windows)]);
  return addSpend(spent, issued.get(hash));
}

/** Adds the spending of the keys whose limits a key counts to its own. */
export function addSpend(one: SubjectSpend, other: SubjectSpend | undefined): SubjectSpend {
  if (other === undefined) return one;
  const add = (some: Spend, more: Spend): Spend => ({
    total: some.total + more.total,
    day: some.day + more.day,
    week: some.week + more.week,
    month: some.month + more.month,
  });
  return { own: add(one.own, other.own), byok: add(one.byok, other.byok) };
}
