import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import type { GenerationContent } from '../../serialize-content.ts';

/**
 * Messages in the shape of `gen_ai.input.messages` and `gen_ai.output.messages`: a role and parts.
 * @source opentelemetry.io, JSON schemas of GenAI input and output messages, read 2026-11
 */
export function serializeInputMessages({ input }: GenerationContent): readonly JsonObject[] {
  return input.messages.map((message) => {
    const { role = 'user', content } = message;
    const parts = Array.isArray(content) ? content.filter(isJsonObject).map(serializePart) : [textPart(content)];
    return { role, parts };
  });
}

export function serializeOutputMessages({ output }: GenerationContent, finishReason = 'stop'): readonly JsonObject[] {
  const { completion, reasoning, tool_calls: calls = [] } = output;
  const parts = [
    ...(reasoning === null ? [] : [{ type: 'reasoning', content: reasoning }]),
    ...(completion === null ? [] : [textPart(completion)]),
    ...calls.map(callPart),
  ];
  return [{ role: 'assistant', parts, finish_reason: finishReason }];
}

function serializePart(part: JsonObject): JsonObject {
  const { type } = part;
  if (type === 'tool_call') return callPart(part);
  if (type === 'tool_result')
    return { type: 'tool_call_response', id: part['tool_call_id'], response: part['content'] };
  if (type === 'reasoning') return { type, content: part['text'] };
  if (type === 'text' || type === 'refusal') return textPart(part['text']);
  // Media are left out: what is left says that they were there.
  return part['left_out'] === true ? { type: 'blob', modality: type, omitted: true } : part;
}

function textPart(text: Json | undefined): JsonObject {
  return { type: 'text', content: text ?? '' };
}

function callPart({ id, name, arguments: input }: JsonObject): JsonObject {
  return { type: 'tool_call', id, name, arguments: parsedOr(input) };
}

/** Arguments are JSON, as a rule. */
function parsedOr(input: Json | undefined): Json | undefined {
  if (typeof input !== 'string') return input;
  const parsed = parseJson(input);
  return isJsonObject(parsed) ? parsed : input;
}
