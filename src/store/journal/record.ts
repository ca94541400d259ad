import { frameBytesMax, writeFrame } from '../../journal/frames.ts';
import { isJsonObject, parseJson, type Json } from '../../lib/json.ts';
import { generationRows, type GenerationRow } from '../generations/columns.ts';
import { storableJson } from '../portable.ts';
import type { GenerationFeedbackTable } from '../tables.ts';
import { chargesOf, type Charges, type ReadColumn, type Stored } from './charges.ts';
import { isSettlement, type Settlement } from './settlement.ts';

/** A record that a destination may want. */
export interface ExportedFacts {
  readonly record_id: string;
  readonly workspace_id: string;
  readonly ended_ms: number;
  readonly size_bytes: number;
  /** JSON. */
  readonly facts: string;
}

/** A generation with all that follows from it: stored together or not at all, and once. */
export interface SettledGeneration extends Charges {
  readonly id: string;
  readonly createdAtMs: number;
  /** In the order of the batch's columns. */
  readonly values: readonly Stored[];
  /** Absent: no destination wants it. */
  readonly exported?: ExportedFacts;
}

/** A record of a journal, as the database stores it. */
export type StoredRecord =
  | { readonly kind: 'generation'; readonly generation: SettledGeneration }
  | { readonly kind: 'feedback'; readonly feedback: GenerationFeedbackTable };

/** The first member of each record: what it is. A number keeps its meaning. */
const KIND = { generation: 1, settlement: 2, feedback: 3 } as const;

/** The columns that the values of a generation are of, in this version. */
export const GENERATION_COLUMNS = generationRows.names;

/**
 * Writes a generation as one line. What it owes follows from its row and its account.
 * @param facts JSON for destinations; absent: none of them wants the generation
 */
export function encodeGeneration(row: GenerationRow, accountId: string, facts?: string): string {
  const values = generationRows.toValues(row);
  return storableJson(
    facts === undefined ? [KIND.generation, values, accountId] : [KIND.generation, values, accountId, facts],
  );
}

export function encodeSettlement(settlement: Settlement): string {
  return storableJson([KIND.settlement, settlement]);
}

export function encodeFeedback(feedback: GenerationFeedbackTable): string {
  return storableJson([KIND.feedback, feedback]);
}

/** Reads the records of one list of columns; `undefined`: this version knows no such record. */
export function recordDecoder(columns: readonly string[]): (payload: string) => StoredRecord | undefined {
  const placeOf = new Map(columns.map((column, place) => [column, place]));
  const read: ReadColumn = (values, column) => values[placeOf.get(column) ?? -1] ?? null;
  return (payload) => {
    const record = parseJson(payload);
    if (!Array.isArray(record)) return undefined;
    const [kind, body, accountId, facts] = record;
    if (kind === KIND.generation && isValues(body, columns.length) && typeof accountId === 'string')
      return { kind: 'generation', generation: generationOf(body, accountId, facts, read) };
    if (kind === KIND.settlement && isSettlement(body))
      return { kind: 'generation', generation: settledBy(body, columns) };
    if (kind === KIND.feedback && isFeedback(body)) return { kind: 'feedback', feedback: body };
    return undefined;
  };
}

function generationOf(
  values: readonly Stored[],
  accountId: string,
  facts: Json | undefined,
  of: ReadColumn,
): SettledGeneration {
  const id = String(of(values, 'id'));
  const createdAtMs = Number(of(values, 'created_at_ms'));
  const settled = { id, createdAtMs, values, ...chargesOf(values, accountId, of) };
  if (typeof facts !== 'string') return settled;
  const exported = {
    record_id: id,
    workspace_id: String(of(values, 'workspace_id')),
    ended_ms: createdAtMs + Number(of(values, 'latency_ms')),
    size_bytes: facts.length,
    facts,
  };
  return { ...settled, exported };
}

function settledBy({ generation, entries, spend }: Settlement, columns: readonly string[]): SettledGeneration {
  const { id, created_at_ms: createdAtMs } = generation;
  const byName = new Map<string, Stored>(Object.entries(generation));
  return { id, createdAtMs, values: columns.map((column) => byName.get(column) ?? null), entries, spend };
}

function isValues(value: unknown, length: number): value is readonly Stored[] {
  return Array.isArray(value) && value.length === length;
}

function isFeedback(value: unknown): value is GenerationFeedbackTable {
  return isJsonObject(value) && typeof value['id'] === 'string' && typeof value['generation_id'] === 'string';
}

/** Records that are in no journal, as a source of a batch. */
export function framesOf(payloads: readonly string[]): Uint8Array {
  const bytes = Buffer.alloc(payloads.reduce((sum, payload) => sum + frameBytesMax(payload), 0));
  return bytes.subarray(
    0,
    payloads.reduce((offset, payload) => writeFrame(bytes, offset, payload), 0),
  );
}
