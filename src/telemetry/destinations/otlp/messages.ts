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

/** Messages as chat requests have them: what many tools show. */
export function chatInput({ input }: GenerationContent): readonly JsonObject[] {
  return input.messages.flatMap((message) => {
    const { role = 'user', content } = message;
    if (!Array.isArray(content)) return [{ role, content: content ?? '' }];
    const parts = content.filter(isJsonObject);
    const results = parts.filter(({ type }) => type === 'tool_result');
    const calls = parts.filter(({ type }) => type === 'tool_call').map(chatCall);
    const text = parts
      .map(plainText)
      .filter((one) => one !== '')
      .join('\n');
    return [
      ...results.map((part) => ({ role: 'tool', tool_call_id: part['tool_call_id'], content: resultText(part) })),
      ...(text !== '' || calls.length > 0 || results.length === 0
        ? [{ role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }]
        : []),
    ];
  });
}

export function chatOutput({ output }: GenerationContent): JsonObject {
  const { completion, reasoning, tool_calls: calls = [] } = output;
  return {
    role: 'assistant',
    content: completion ?? '',
    ...(reasoning !== null && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(chatCall) }),
  };
}

function chatCall({ id, name, arguments: input }: JsonObject): JsonObject {
  return {
    id,
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  };
}

function plainText({ type, text, left_out: isLeftOut }: JsonObject): string {
  if (isLeftOut === true && typeof type === 'string') return `[${type}]`;
  return (type === 'text' || type === 'refusal') && typeof text === 'string' ? text : '';
}

function resultText({ content }: JsonObject): string {
  if (!Array.isArray(content)) return '';
  return content.filter(isJsonObject).map(plainText).join('\n');
}
