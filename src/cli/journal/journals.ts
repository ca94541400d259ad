import { setTimeout as sleep } from 'node:timers/promises';
import { dirname } from 'node:path';
import { journalFolderOf, unstoredFolderOf } from '../../app/journal.ts';
import type { Config } from '../../config/config.ts';
import { listDamaged } from '../../journal/batch.ts';
import { inspectJournals } from '../../journal/inspect.ts';
import type { JournalReports } from '../../journal/reports.ts';
import { listSegments, type Segment } from '../../journal/segments.ts';
import type { Database } from '../../store/engine/database.ts';
import { takeLock } from '../../store/engine/sqlite/claim.ts';
import { openJournalStore } from '../../store/journal/checkpoints.ts';
import { listUnstoredFiles } from '../../store/journal/unstored-files.ts';
import type { Io } from '../command.ts';

/** What was set aside because it could not be read, a sentence each, until the operator removes it. */
export async function nameDamaged(config: Pick<Config, 'dataDir'>): Promise<readonly string[]> {
  const damaged = await listDamaged(journalFolderOf(config));
  return damaged.map((path) => `A part of a journal was damaged, and set aside: ${path}`);
}

const WAIT_MS_MAX = 30_000;
/** Of a command that only shows rows: as long as a route of the gateway waits. */
const READ_WAIT_MS_MAX = 2_000;
const LOOK_EVERY_MS = 50;

/** What the database lacks. */
export interface LeftRecords {
  /** A sentence each. */
  readonly sentences: readonly string[];
  /** Those that it can get from. */
  readonly segments: readonly Segment[];
}

/**
 * Waits until the database has what the journals of the data directory hold now. What a process that is gone has left is not
 * waited for: a gateway applies it.
 */
export async function waitForJournals(
  config: Pick<Config, 'dataDir'>,
  database: Database,
  waitMs = WAIT_MS_MAX,
): Promise<LeftRecords> {
  const folder = journalFolderOf(config);
  const store = await openJournalStore(database);
  const journals = await inspectJournals({ folder, store, takeLock });
  const running = new Map(
    journals.flatMap(({ stream, owner, position, recordsLeft }) =>
      owner === 'running' && recordsLeft > 0 ? [[stream, position] as const] : [],
    ),
  );
  for (const untilMs = performance.now() + waitMs; running.size > 0 && performance.now() < untilMs;) {
    // A stream without segments is stored whole; its checkpoint is gone by then.
    const left = new Set((await listSegments(folder)).map(({ stream }) => stream));
    const stored = await store.readCheckpoints([...running.keys()]);
    for (const [stream, position] of running)
      if (!left.has(stream) || (stored.get(stream) ?? 0) >= position) running.delete(stream);
    if (running.size > 0) await sleep(LOOK_EVERY_MS);
  }
  const left = journals.filter(({ stream, owner, problem, recordsLeft }) =>
    problem === undefined && owner === 'running' ? running.has(stream) : problem !== undefined || recordsLeft > 0,
  );
  return {
    sentences: [
      ...nameUnstored(await listUnstoredFiles(unstoredFolderOf(config))),
      ...left.map(({ stream, problem, recordsLeft }) =>
        problem === undefined
          ? `The journal ${stream} has ${recordsLeft} records that are not in the database.`
          : `The journal ${stream} cannot be applied (${problem}).`,
      ),
    ],
    segments: left.flatMap(({ problem, segments }) => (problem === undefined ? segments : [])),
  };
}

/** A running gateway stores records a moment after its responses: what is shown has them, or a line says what it lacks. */
export async function waitToShow(config: Pick<Config, 'dataDir'>, database: Database, io: Io): Promise<void> {
  const { sentences } = await waitForJournals(config, database, READ_WAIT_MS_MAX);
  for (const sentence of sentences) io.stderr.write(`${sentence}\n`);
}

function nameUnstored([first, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return [];
  const count = 1 + others.length;
  return [
    `An earlier version left records in ${dirname(first)} that are not in the database (files: ${count}). The gateway stores them at its start.`,
  ];
}

/** What becomes of records that a command stores itself. */
export function reportTo(io: Io, folder: string, onApplied: (records: number) => void) {
  const say = (text: string): void => void io.stderr.write(`${text}\n`);
  return {
    onApplied,
    onLost: (payload, reason) => say(`A record cannot be stored: ${reason} ${payload}`),
    onDamaged: ({ path }, { offset, length }) =>
      say(`${path}: ${length} damaged bytes from ${offset} on were set aside in ${folder}/damaged.`),
    onUnusable: ({ path }, problem) => say(`${path} cannot be applied: ${problem}.`),
  } satisfies Partial<JournalReports>;
}
