import { SecretBoxError } from '../lib/secret-box.ts';
import type { SealedRow, SealedRows } from '../store/sealed-rows.ts';
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
  /** Rows that could not be opened, by id. They stay as they are. */
  readonly unreadable: readonly string[];
}

const BATCH_ROWS = 100;
/** Ids that are named; others are lost as well, and counted by whoever looks. */
const UNREADABLE_MAX = 1_000;

/**
 * Seals everything anew with another secret. When it is cut off, running it again goes on where it stopped: a new secret
 * is only made when nothing is left to do. What a gateway that runs meanwhile seals with the old one stays readable,
 * because the last secret is kept until the next rotation.
 */
export async function rotateSecret(secrets: Secrets, tables: readonly SealedTable[]): Promise<Rotation> {
  const before = await secrets.box();
  const used = await usedSecrets(tables);
  const isPending = used.some((id) => id !== before.currentId);
  const renewed = !isPending && (await secrets.renew(used));
  const box = renewed ? await secrets.box() : before;
  let resealed = 0;
  const unreadable: string[] = [];
  for (const { rows, purposeOf } of tables) {
    let afterId = '';
    for (;;) {
      const batch = await rows.sealedByOthers(box.currentId, afterId, BATCH_ROWS);
      for (const row of batch) {
        const text = openOrNothing(() => box.open(row.sealed, purposeOf(row)));
        if (text === undefined) unreadable.push(row.id);
        else if (await rows.reseal(row, box.seal(text, purposeOf(row)), box.currentId)) resealed++;
      }
      const last = batch.at(-1);
      if (last === undefined || unreadable.length > UNREADABLE_MAX) break;
      afterId = last.id;
    }
  }
  return {
    began: renewed ? 'renewed' : isPending ? 'went on' : 'nothing',
    secretId: box.currentId,
    resealed,
    unreadable,
  };
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
