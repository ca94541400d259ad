import type { JsonObject } from '../../lib/json.ts';

/** Asks for JSON in words, where the upstream has no option for it. @source generation.md 11.6 "instruction" */
export const JSON_INSTRUCTION = 'Answer with one JSON object and nothing else: no prose around it, no code fence.';

/** The same for one schema, which words do not make binding. @param description of what the answer is */
export function schemaInstruction(schema: JsonObject, description: string | undefined): string {
  const told = description === undefined ? '' : ` (${description})`;
  return `${JSON_INSTRUCTION} It must be valid for this JSON Schema${told}:\n${JSON.stringify(schema)}`;
}
