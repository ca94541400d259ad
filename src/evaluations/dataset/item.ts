import { acceptedTexts, expectedCalls, type Check, type DatasetLine } from '../../resources/evaluations.ts';
import type { Json } from '../../lib/json.ts';

/** One question of a dataset. */
export interface DatasetItem extends Omit<DatasetLine, 'id' | 'checks' | 'weight' | 'group' | 'expected'> {
  readonly id: string;
  readonly expected: Json | undefined;
  readonly checks: readonly Check[];
  readonly weight: number;
  /** Items of one group stand or fall together; null: the item is alone. */
  readonly group: string | null;
}

/** What the kind of the expected answer calls for. Without one only a judge can tell. */
export function defaultChecks(expected: Json | undefined): readonly Check[] {
  if (expected === undefined) return [{ type: 'judge' }];
  if (acceptedTexts(expected) !== undefined) return [{ type: 'normalized' }];
  if (typeof expected === 'number') return [{ type: 'number' }];
  if (expectedCalls(expected) !== undefined) return [{ type: 'tool_call' }];
  return [{ type: 'json_equal' }];
}

/** What a check needs of the expected answer, and does not find there. */
export function faultOfCheck(check: Check, expected: Json | undefined): string | undefined {
  switch (check.type) {
    case 'exact':
    case 'normalized':
    case 'contains':
      return acceptedTexts(expected) === undefined ? 'needs a text, or a list of texts, as expected' : undefined;
    case 'choice':
      return acceptedTexts(expected) === undefined ? 'needs the right label as expected' : undefined;
    case 'number':
      return typeof expected === 'number' ? undefined : 'needs a number as expected';
    case 'tool_call':
      return expectedCalls(expected) === undefined ? 'needs {"tool_calls": [...]} as expected' : undefined;
    case 'json_equal':
      return expected === undefined ? 'needs a value as expected' : undefined;
    case 'regex':
    case 'json_schema':
    case 'command':
    case 'judge':
    default:
      return undefined;
  }
}
