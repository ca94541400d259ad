import assert from 'node:assert/strict';
import { frameBytesMax, writeFrame } from '../../../src/journal/frames.ts';
import type { AppliedBatch } from '../../../src/journal/batch.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import { generationRows, type GenerationRow } from '../../../src/store/generations/columns.ts';
import { createGenerationStore, type GenerationStore } from '../../../src/store/generations/generations.ts';
import type { Charges } from '../../../src/store/journal/charges.ts';
import { encodeSettlement, GENERATION_COLUMNS } from '../../../src/store/journal/record.ts';
import type { Settlement } from '../../../src/store/journal/settlement.ts';

const NO_CHARGES: Charges = { entries: [], spend: [] };

function settlementOf(row: GenerationRow, charges = NO_CHARGES): Settlement {
  return { generation: generationRows.toColumns(row), ...charges };
}

/** Stores records in one transaction, as a batch of a journal. */
export function applyPayloads(database: Database, payloads: readonly string[]): Promise<AppliedBatch> {
  const bytes = Buffer.alloc(payloads.reduce((sum, payload) => sum + frameBytesMax(payload), 0));
  const end = payloads.reduce((offset, payload) => writeFrame(bytes, offset, payload), 0);
  return database.applyBatch({
    source: { frames: bytes.subarray(0, end) },
    columns: GENERATION_COLUMNS,
    lateBeforeMs: -Infinity,
  });
}

export function applySettlements(database: Database, settlements: readonly Settlement[]): Promise<AppliedBatch> {
  return applyPayloads(database, settlements.map(encodeSettlement));
}

/** Stores generations with the charges that a test chooses: those of one turn of the event loop together. */
export function createAppender(database: Database): GenerationStore & {
  append(row: GenerationRow, charges?: Charges): Promise<void>;
} {
  let waiting: Settlement[] = [];
  let storing: Promise<void> | undefined;
  const storeAll = async (): Promise<void> => {
    await new Promise(setImmediate);
    storing = undefined;
    const batch = waiting;
    waiting = [];
    const { refused } = await applySettlements(database, batch);
    assert.deepEqual(refused, []);
  };
  return {
    ...createGenerationStore({ database }),
    append(row, charges) {
      waiting.push(settlementOf(row, charges));
      return (storing ??= storeAll());
    },
  };
}
