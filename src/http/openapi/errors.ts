import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import { jsonContent } from './content.ts';

/** @spec error-8 */
const ERROR_MEANING: Readonly<Record<number, string>> = {
  400: 'Invalid request parameters or malformed input.',
  401: 'Authentication required or invalid credentials.',
  402: 'Insufficient credits or quota.',
  403: 'Insufficient permissions, or a guardrail blocked the request.',
  404: 'Resource does not exist.',
  408: 'Operation exceeded the time limit.',
  409: 'Conflict with something that exists already.',
  410: 'Removed, and not coming back.',
  413: 'Request payload exceeds size limits.',
  422: 'Semantic validation failure.',
  429: 'Rate limit exceeded.',
  500: 'Unexpected server error.',
  502: 'Provider or upstream failure.',
  503: 'Service temporarily unavailable.',
  524: 'Provider request timed out at the edge network.',
  529: 'Provider temporarily overloaded.',
};

export const GENERATION_ERRORS = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529];

export const errorShape = {
  code: z.int().describe('Equals the HTTP status.'),
  message: z.string(),
  metadata: z.looseObject({ error_type: z.string().optional() }).optional(),
};
export const besidesError = {
  service_metadata: z.looseObject({}).nullable().optional(),
  user_id: z.string().nullable().optional(),
};

/** @spec error-1 */
export const errorSchema = z.looseObject({ error: z.looseObject(errorShape), ...besidesError });

export function serializeErrors(statuses: readonly number[], schema: JsonObject): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: ERROR_MEANING[status] ?? 'An error.', content: jsonContent(schema) },
    ]),
  );
}
