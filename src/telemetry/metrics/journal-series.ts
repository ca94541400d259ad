import { Counter, Gauge, type Registry } from 'prom-client';

/** What is measured of a journal. */
export interface WatchedJournal {
  /** Of its files. */
  readonly bytes: number;
  /** Records that are not on the disk. */
  readonly unwritten: number;
  /** Bytes that are not in the database. */
  readonly unapplied: number;
  /** For how long the oldest record has waited for the database. */
  readonly behindMs: number;
}

const MS_PER_S = 1_000;

export function createJournalSeries(registers: Registry[]) {
  const count = (name: string, help: string): Counter => new Counter({ name, help, registers });
  return {
    lost: count('gateway_records_lost_total', 'Generation records that could not be stored.'),
    applied: count('gateway_journal_applied_total', 'Records that came from the journal to the database.'),
    damaged: count('gateway_journal_damaged_total', 'Parts of the journal that cannot be read, and were set aside.'),
    late: count(
      'gateway_journal_late_total',
      'Responses that ended before their record was in the database, although journal.durability wants that.',
    ),
  };
}

/** @param read called at each scrape */
export function watchJournal(registers: Registry[], read: () => WatchedJournal): void {
  const watch = (name: string, help: string, valueOf: (journal: WatchedJournal) => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(valueOf(read())) });
  };
  watch('gateway_journal_bytes', 'Size of the journal of this process on the disk.', ({ bytes }) => bytes);
  watch('gateway_journal_unwritten_records', 'Records that wait for the disk.', ({ unwritten }) => unwritten);
  watch('gateway_journal_unapplied_bytes', 'Journal that is not in the database yet.', ({ unapplied }) => unapplied);
  watch(
    'gateway_journal_behind_seconds',
    'For how long the oldest record has waited for the database.',
    ({ behindMs }) => behindMs / MS_PER_S,
  );
}
