import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';
import type { SealedRow, SealedRows } from '../../store/accounts/sealed-rows.ts';
import type { Secrets } from './secrets.ts';

/** A table with sealed texts, and the purpose that each of them is sealed for. */
export interface SealedTable {
  readonly rows: SealedRows;
  readonly purposeOf: (row: SealedRow) => string;
}

export interface Rotation {
  /**
   * `renewed`: a new secret was made; `went on`: an older rotation was finished; `nothing`: the current secret seals
   * everything.
   */
  readonly began: 'renewed' | 'went on' | 'nothing';
  /** The current secret. */
  readonly secretId: string;
  readonly resealed: number;
  /** The ids of rows that could not be opened, at most 1,000. These rows stay as they are. */
  readonly unreadable: readonly string[];
}

const BATCH_ROWS = 100;
/** The number of ids that are listed. */
const UNREADABLE_MAX = 1_000;

/**
 * Reseals everything with another secret. After an interruption, another run goes on where it stopped: a new secret is
 * only made when nothing is left to do. What a running gateway seals with the old secret meanwhile stays readable,
 * because the last secret is kept until the next rotation.
 */
export async function rotateSecret(secrets: Secrets, tables: readonly SealedTable[]): Promise<Rotation> {
  const before = await secrets.box();
  const left = await resealAll(before, tables);
  // Unreadable rows do not count as left to do: they would keep a leaked secret in use for good.
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
