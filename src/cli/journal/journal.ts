import { setTimeout as sleep } from 'node:timers/promises';
import { journalFolderOf } from '../../app/journal.ts';
import { CONFIG_FLAGS, parseFlags } from '../../config/flags.ts';
import { inspectJournals, readRecords, type InspectedJournal } from '../../journal/inspect.ts';
import { haveLocks, type TakeLock } from '../../journal/locks.ts';
import { Orphans } from '../../journal/orphans.ts';
import { listSegments } from '../../journal/segments.ts';
import type { JournalStore } from '../../journal/store.ts';
import { takeLock } from '../../store/engine/sqlite/claim.ts';
import { openJournalStore } from '../../store/journal/checkpoints.ts';
import { recordDecoder } from '../../store/journal/record.ts';
import { CommandError, unknownVerb, UsageError, type Io } from '../command.ts';
import { reportTo } from './journals.ts';
import { configArgs, loadCheckedConfig } from '../load-config.ts';
import { openConfiguredDatabase } from '../open-database.ts';

const OPERANDS = { list: [], show: ['STREAM'], apply: [] } as const;
type Verb = keyof typeof OPERANDS;
/** So long `apply` waits for a gateway that applies what is left. */
const ADOPTER_MS_MAX = 10_000;
const ADOPTER_PAUSE_MS = 50;

/** `model-gateway journal`: records on their way to the database, also while a gateway runs. */
export async function runJournal(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, CONFIG_FLAGS);
  const [word, operand, surplus] = words;
  const verb = readVerb(word);
  const takes = OPERANDS[verb].length;
  if (takes === 1 && operand === undefined) throw new UsageError(`journal ${verb}: name a STREAM`);
  const unexpected = takes === 0 ? operand : surplus;
  if (unexpected !== undefined) throw new UsageError(`journal ${verb}: ${unexpected}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const folder = journalFolderOf(config);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    const store = await openJournalStore(database);
    if (verb === 'show') return await show(folder, operand ?? '', store, io);
    if (verb === 'apply') return await apply(folder, store, io);
    return list(await inspectJournals({ folder, store, takeLock }), io);
  } finally {
    await database.close();
  }
}

function readVerb(word = ''): Verb {
  if (word === 'list' || word === 'show' || word === 'apply') return word;
  throw unknownVerb('journal', word, Object.keys(OPERANDS));
}

function list(journals: readonly InspectedJournal[], io: Io): number {
  if (journals.length === 0) io.stdout.write('There is no journal: the database has all records.\n');
  for (const { stream, owner, segments, recordsLeft, problem } of journals) {
    const trouble = problem === undefined ? '' : `  cannot be applied: ${problem}`;
    io.stdout.write(
      `${stream}  ${owner.padEnd(7)}  ${segments.length} segments  ${recordsLeft} not stored${trouble}\n`,
    );
  }
  return journals.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

async function show(folder: string, name: string, store: JournalStore, io: Io): Promise<number> {
  const segments = (await listSegments(folder)).filter(({ stream }) => stream === name);
  if (segments.length === 0) throw new CommandError(`There is no journal ${name} in ${folder}.`);
  for (const segment of segments) {
    const read = await readRecords(segment, store.databaseId);
    if (typeof read === 'string') throw new CommandError(`${segment.path} cannot be read: ${read}.`);
    const decode = recordDecoder(read.columns);
    for (const payload of read.payloads) io.stdout.write(`${describe(decode(payload), read.columns) ?? payload}\n`);
  }
  return 0;
}

/** A record with the names of its values. */
function describe(
  record: ReturnType<ReturnType<typeof recordDecoder>>,
  columns: readonly string[],
): string | undefined {
  if (record === undefined) return undefined;
  if (record.kind === 'feedback') return JSON.stringify({ feedback: record.feedback });
  const { values, entries } = record.generation;
  const generation = Object.fromEntries(columns.map((column, place) => [column, values[place]]));
  return JSON.stringify({ generation, entries });
}

async function apply(folder: string, store: JournalStore, io: Io): Promise<number> {
  // The operator says that no process has it open where the file system cannot.
  const takeAny: TakeLock = haveLocks(folder, takeLock) ? takeLock : () => ({ release: () => undefined });
  let applied = 0;
  const orphans = new Orphans({
    folder,
    store,
    takeLock: takeAny,
    applyEarlier: () => Promise.resolve(),
    // All of them are late: their hours are summed up again.
    lateBeforeMs: () => Infinity,
    own: '',
    onFinished: () => Promise.resolve(),
    reports: reportTo(io, folder, (records) => (applied += records)),
  });
  for (const untilMs = performance.now() + ADOPTER_MS_MAX; !(await orphans.adopt());) {
    if (performance.now() > untilMs) throw new CommandError('A gateway is applying what is left. Try again later.');
    await sleep(ADOPTER_PAUSE_MS);
  }
  io.stdout.write(`${applied} records were stored.\n`);
  return 0;
}
