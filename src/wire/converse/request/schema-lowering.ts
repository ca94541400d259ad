import type { JsonObject } from '../../../lib/json.ts';
import {
  closeSchema,
  REFUSED_NUMBERS,
  type ClosedSchema,
  type RefusedKeywords,
} from '../../gateway/validation/closed-schema.ts';

/**
 * @source github.com/pydantic/pydantic-ai `BedrockJsonSchemaTransformer`, checked against the service there 2026-05: its
 *   documentation differs in two places
 */
const REFUSED: RefusedKeywords = new Map([
  ['number', REFUSED_NUMBERS],
  ['integer', REFUSED_NUMBERS],
  ['array', new Set(['maxItems'])],
]);

/** A schema as structured output takes it here. */
export function lowerSchema(schema: JsonObject): ClosedSchema {
  return closeSchema(schema, REFUSED);
}
