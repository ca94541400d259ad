import { isJsonObject, parseJson } from '../../lib/json.ts';
import type { GenerationsTable } from '../generations/columns.ts';
import type { Charges } from './charges.ts';

/** A generation with its charges, as versions before the journal kept them in files while the database was away. */
export interface Settlement extends Charges {
  readonly generation: Partial<GenerationsTable> & Pick<GenerationsTable, 'id' | 'created_at_ms'>;
}

/** Parses such a file; `undefined` when it holds something else. */
export function parseSettlements(text: string): readonly Settlement[] | undefined {
  const found: unknown = parseJson(text);
  return Array.isArray(found) && found.every(isSettlement) ? found : undefined;
}

export function isSettlement(value: unknown): value is Settlement {
  if (!isJsonObject(value) || !isJsonObject(value['generation'])) return false;
  return (
    typeof value['generation']['id'] === 'string' &&
    typeof value['generation']['created_at_ms'] === 'number' &&
    Array.isArray(value['entries']) &&
    Array.isArray(value['spend'])
  );
}
