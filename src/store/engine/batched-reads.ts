import { DatabaseError, type DatabaseFault } from './database-error.ts';

/** Statements that run at once; names that come meanwhile wait for the next statement. */
const READS_MAX = 2;
/** A statement that takes longer than this no longer delays others. */
const READ_MS_MAX = 1_000;
/** Names in one statement. */
const NAMES_MAX = 100;
/** Names that may wait. */
const WAITING_MAX = 10_000;

const TOO_MANY_WAIT: DatabaseFault = {
  message: 'Too many keys are being looked for.',
  transient: true,
  duplicate: false,
};

interface Waiting<Row> {
  readonly name: string;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches reads by name: all names that come while statements run go into one statement. However many requests look for
 * rows that do not exist, the database runs two statements at a time for them. A statement is always sent after its
 * names came, so it sees every earlier write.
 * @param readAll returns the existing rows by name
 */
export function createBatchedReads<Row>(
  readAll: (names: readonly string[]) => Promise<ReadonlyMap<string, Row>>,
): (name: string) => Promise<Row | undefined> {
  const waiting: Waiting<Row>[] = [];
  let underWay = 0;

  function send(): void {
    while (underWay < READS_MAX && waiting.length > 0) void read(waiting.splice(0, NAMES_MAX));
  }

  async function read(batch: readonly Waiting<Row>[]): Promise<void> {
    underWay++;
    let isOver = false;
    const makeRoom = (): void => {
      if (isOver) return;
      isOver = true;
      underWay--;
      send();
    };
    const timer = setTimeout(makeRoom, READ_MS_MAX);
    try {
      const rows = await readAll(padded([...new Set(batch.map(({ name }) => name))]));
      for (const { name, resolve } of batch) resolve(rows.get(name));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(timer);
      makeRoom();
    }
  }

  return (name) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= WAITING_MAX) {
        reject(new DatabaseError(TOO_MANY_WAIT));
        return;
      }
      waiting.push({ name, resolve, reject });
      send();
    });
}

/** Repeats the last name up to one of few lengths: each length is a statement that databases prepare. */
function padded(names: readonly string[]): readonly string[] {
  const length = [1, 10, NAMES_MAX].find((each) => each >= names.length) ?? names.length;
  return [...names, ...Array<string>(length - names.length).fill(names.at(-1) ?? '')];
}
