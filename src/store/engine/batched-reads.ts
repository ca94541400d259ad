import { DatabaseError, type DatabaseFault } from './database-error.ts';

/** Statements under way; what is asked meanwhile waits for the next. */
const READS_MAX = 2;
/** One that takes longer than this holds up no other. */
const READ_MS_MAX = 1_000;
/** Names of one statement. */
const NAMES_MAX = 100;
/** Names that wait. */
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
 * Reads by name, of which all that come while others are under way are one statement: however many strangers ask for what
 * is not there, the database has two statements at a time to do for them. Each is sent after it was asked for.
 * @param readAll the rows that there are, by name
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

/** To one of few lengths, each of which is a statement that databases prepare: the last name is said again. */
function padded(names: readonly string[]): readonly string[] {
  const length = [1, 10, NAMES_MAX].find((each) => each >= names.length) ?? names.length;
  return [...names, ...Array<string>(length - names.length).fill(names.at(-1) ?? '')];
}
