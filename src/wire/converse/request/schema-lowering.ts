import type { JsonObject } from '../../../lib/json.ts';
import { closeSchema, type ClosedSchema, type RefusedKeywords } from '../../closed-schema.ts';

const NUMBERS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);

/**
 * @source github.com/pydantic/pydantic-ai `BedrockJsonSchemaTransformer`, checked against the service there 2026-05: its
 *   documentation differs in two places
 */
const REFUSED: RefusedKeywords = new Map([
  ['number', NUMBERS],
  ['integer', NUMBERS],
  ['array', new Set(['maxItems'])],
]);

/** A schema as structured output takes it here. */
export function lowerSchema(schema: JsonObject): ClosedSchema {
  return closeSchema(schema, REFUSED);
}
