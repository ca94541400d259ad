import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';
import type { SealedRow, SealedRows } from '../../store/accounts/sealed-rows.ts';
import type { Secrets } from './secrets.ts';

/** A table with sealed texts, and what each of them is sealed for. */
export interface SealedTable {
  readonly rows: SealedRows;
  readonly purposeOf: (row: SealedRow) => string;
}

export interface Rotation {
  /** `renewed`: a new secret was made; `went on`: an older rotation was finished; `nothing`: all is sealed by the current one. */
  readonly began: 'renewed' | 'went on' | 'nothing';
  /** The secret that seals now. */
  readonly secretId: string;
  readonly resealed: number;
  /** Rows that could not be opened, by id, at most 1,000 of them. They stay as they are. */
  readonly unreadable: readonly string[];
}

const BATCH_ROWS = 100;
/** Ids that are named. */
const UNREADABLE_MAX = 1_000;

/**
 * Seals everything anew with another secret. When it is cut off, running it again goes on where it stopped: a new secret
 * is only made when nothing is left to do. What a gateway that runs meanwhile seals with the old one stays readable,
 * because the last secret is kept until the next rotation.
 */
export async function rotateSecret(secrets: Secrets, tables: readonly SealedTable[]): Promise<Rotation> {
  const before = await secrets.box();
  const left = await resealAll(before, tables);
  // What nobody can open is nothing left to do: it would keep a secret that became known in use for good.
  const renewed = left.resealed === 0 && (await secrets.renew(await usedSecrets(tables)));
  if (!renewed) return { began: left.resealed > 0 ? 'went on' : 'nothing', secretId: before.currentId, ...left };
  const box = await secrets.box();
  return { began: 'renewed', secretId: box.currentId, ...(await resealAll(box, tables)) };
}

async function resealAll(
  box: SecretBox,
  tables: readonly SealedTable[],
): Promise<Pick<Rotation, 'resealed' | 'unreadable'>> {
  let resealed = 0;
  const unreadable: string[] = [];
  for (const { rows, purposeOf } of tables) {
    let afterId = '';
    for (;;) {
      const batch = await rows.sealedByOthers(box.currentId, afterId, BATCH_ROWS);
      for (const row of batch) {
        const text = openOrNothing(() => box.open(row.sealed, purposeOf(row)));
        if (text === undefined) {
          if (unreadable.length < UNREADABLE_MAX) unreadable.push(row.id);
        } else if (await rows.reseal(row, box.seal(text, purposeOf(row)), box.currentId)) resealed++;
      }
      const last = batch.at(-1);
      if (last === undefined) break;
      afterId = last.id;
    }
  }
  return { resealed, unreadable };
}

async function usedSecrets(tables: readonly SealedTable[]): Promise<readonly string[]> {
  const ids = await Promise.all(tables.map(({ rows }) => rows.secretIds()));
  return [...new Set(ids.flat())];
}

function openOrNothing(open: () => string): string | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined;
    throw error;
  }
}
