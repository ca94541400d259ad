import type { JsonObject } from '../../lib/json.ts';

export function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

export function jsonBody(schema: JsonObject): JsonObject {
  return { required: true, content: jsonContent(schema) };
}
