import { readBatch, type JournalBatch, type RefusedRecord } from '../../journal/batch.ts';
import type { DamagedBytes } from '../../journal/frames.ts';
import type { GenerationFeedbackTable } from '../tables.ts';
import { recordDecoder, type SettledGeneration } from './record.ts';

/** The records of a batch, ready to be stored. */
export interface DecodedBatch {
  readonly generations: readonly WithPayload<SettledGeneration>[];
  readonly feedback: readonly WithPayload<GenerationFeedbackTable>[];
  /** What is no record. */
  readonly unknown: readonly RefusedRecord[];
  readonly damaged: readonly DamagedBytes[];
  /** The offset behind the last record. */
  readonly end: number;
  /** The time of the oldest generation, if it may be of an hour that was summed up, Unix ms. */
  readonly lateSinceMs: number | undefined;
}

interface WithPayload<Row> {
  readonly row: Row;
  readonly payload: string;
}

const COLUMN_NAME = /^[a-z][a-z0-9_]*$/;

/** @throws Error of the system; and when the columns are none: their names become SQL */
export function decodeBatch(batch: JournalBatch, recordsMax: number): DecodedBatch {
  const odd = batch.columns.find((column) => !COLUMN_NAME.test(column));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} is no column.`);
  const { frames, damaged, end } = readBatch(batch, recordsMax);
  const decode = recordDecoder(batch.columns);
  const generations: WithPayload<SettledGeneration>[] = [];
  const feedback: WithPayload<GenerationFeedbackTable>[] = [];
  const unknown: RefusedRecord[] = [];
  const ids = new Set<string>();
  let oldestMs = Infinity;
  for (const { payload } of frames) {
    const record = decode(payload);
    if (record === undefined) unknown.push({ payload, message: 'It is no record that this version knows.' });
    else if (record.kind === 'feedback') feedback.push({ row: record.feedback, payload });
    // One that came twice in a batch would be stored once and counted twice.
    else if (!ids.has(record.generation.id)) {
      ids.add(record.generation.id);
      generations.push({ row: record.generation, payload });
      oldestMs = Math.min(oldestMs, record.generation.createdAtMs);
    }
  }
  return {
    generations,
    feedback,
    unknown,
    damaged,
    end,
    lateSinceMs: oldestMs < batch.lateBeforeMs ? oldestMs : undefined,
  };
}

/** The names of the columns in SQL. */
export function columnList(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}
