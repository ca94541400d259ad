import type { GenerationRequest, ResponseFormat } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { closeSchema, REFUSED_NUMBERS, type RefusedKeywords } from '../../gateway/validation/closed-schema.ts';
import type { EncodeTarget } from '../../format.ts';
import { JSON_INSTRUCTION, schemaInstruction } from '../../gateway/json-instruction.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import type { WireObject } from '../../json-fields.ts';
import { fitsOutputTool, makeOutputTool, outputToolInstruction, type OutputTool } from '../../output-tool.ts';
import { addExtra } from '../extra.ts';
import type { WireMessage } from './wire-message.ts';

/** How the response format is requested: by one of these, or not at all. */
export interface OutputFormat {
  /** `output_config.format`. */
  readonly format?: WireObject;
  /** A tool whose input is the response. */
  readonly tool?: OutputTool;
  /** A sentence for the end of the system prompt. */
  readonly instruction?: string;
}

type JsonSchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

/**
 * What structured output refuses: "If you use an unsupported feature, you'll receive a 400 error". platform.claude.com
 * "Structured outputs", as quoted in laravel/ai#715 (2026-06) and BerriAI/litellm#35811 (2026-08); what the vendor's SDK,
 * @anthropic-ai/sdk 1.11 `transformJSONSchema`, takes out.
 */
const REFUSED_KEYWORDS: RefusedKeywords = new Map([
  ['number', REFUSED_NUMBERS],
  ['integer', REFUSED_NUMBERS],
  ['string', new Set(['minLength', 'maxLength'])],
  ['array', new Set(['maxItems', 'uniqueItems'])],
  ['object', new Set(['minProperties', 'maxProperties'])],
]);

/**
 * A model without structured output is forced to call a tool whose input is the response. A model that cannot be forced
 * gets an instruction instead, with a warning. @spec chat-36, translate-22
 */
export function encodeOutputFormat(
  request: GenerationRequest,
  target: EncodeTarget,
  messages: readonly WireMessage[],
  supports: (parameter: string) => boolean,
  warnings: Warnings,
): OutputFormat {
  const wanted = request.settings.responseFormat;
  if (wanted === undefined || wanted.type === 'text') return {};
  const path = request.format === 'messages' ? 'output_config.format' : 'response_format';
  if (wanted.type === 'grammar' || wanted.type === 'python') {
    warnings.add('field-dropped', path, `${wanted.type} is not supported in this format`);
    return {};
  }
  if (!supports('response_format')) {
    warnings.add('field-dropped', path, 'the endpoint does not take it');
    return {};
  }
  if (wanted.type !== 'json_schema') return { instruction: JSON_INSTRUCTION };
  if (request.format !== 'messages' && wanted.name !== undefined)
    warnings.add('field-dropped', `${path}.json_schema.name`, 'a schema has no name in this format');
  if (wanted.schema !== undefined && isNative(request, target))
    return encodeNative(wanted, knownSchema(wanted.schema, request, target, warnings), warnings);
  return encodeEmulated(
    request,
    target,
    { wanted, path, endsWithAssistant: messages.at(-1)?.role === 'assistant' },
    supports,
    warnings,
  );
}

/** What a caller of this format asks a host for that may know it goes on as it stands. */
function isNative(request: GenerationRequest, { dialect, supportedParameters }: EncodeTarget): boolean {
  if (dialect.structuredOutput === true || supportedParameters?.has('structured_outputs') === true) return true;
  return request.format === 'messages' && dialect.structuredOutput === undefined;
}

/**
 * Callers of other formats write schemas that the vendor refuses, open objects above all: they get what it takes. Its own
 * callers know what they may write.
 */
function knownSchema(
  schema: JsonObject,
  { format }: GenerationRequest,
  { dialect }: EncodeTarget,
  warnings: Warnings,
): JsonObject {
  if (format === 'messages' || dialect.vendor !== true) return schema;
  const closed = closeSchema(schema, REFUSED_KEYWORDS);
  if (closed.dropped.size > 0)
    warnings.add('field-changed', 'response_format', `the model is not bound to ${[...closed.dropped].join(', ')}`);
  return closed.schema;
}

function encodeNative(wanted: JsonSchemaFormat, schema: JsonObject, warnings: Warnings): OutputFormat {
  if (wanted.description !== undefined)
    warnings.add('field-dropped', 'response_format.json_schema.description', 'a schema has none in this format');
  return { format: addExtra({ type: 'json_schema', schema }, wanted.extra) };
}

function encodeEmulated(
  request: GenerationRequest,
  target: EncodeTarget,
  { wanted, path, endsWithAssistant }: { wanted: JsonSchemaFormat; path: string; endsWithAssistant: boolean },
  supports: (parameter: string) => boolean,
  warnings: Warnings,
): OutputFormat {
  const { schema, description } = wanted;
  const choice = request.settings.toolChoice?.type;
  if (choice === 'required' || choice === 'function') {
    warnings.add('field-dropped', path, 'the response has to be a call of one of the tools');
    return {};
  }
  for (const member of request.format === 'messages' ? Object.keys(wanted.extra?.fields ?? {}) : [])
    warnings.add('field-dropped', `${path}.${member}`, 'the endpoint knows no structured output');
  const forced = !keepsThinking(request, target);
  const callable = supports('tools') && supports('tool_choice') && (forced || choice !== 'none');
  // A beginning of the response would be a beginning of text.
  if (!callable || endsWithAssistant || schema === undefined || !fitsOutputTool(schema)) {
    warnings.add('field-changed', path, 'the format is put into the prompt, which does not bind it');
    return { instruction: schema === undefined ? JSON_INSTRUCTION : schemaInstruction(schema, description) };
  }
  const tool = makeOutputTool(schema, description, forced, request.tools);
  // No setting of a messages caller is dropped in silence (@spec messages-24), and a model that thinks refuses to be forced:
  // so it may call the tool, and an instruction requests that.
  return forced ? { tool } : { tool, instruction: outputToolInstruction(tool) };
}

/** From another format thinking is dropped instead. @spec reasoning-11 */
function keepsThinking({ format, settings }: GenerationRequest, { dialect }: EncodeTarget): boolean {
  const { reasoning } = settings;
  if (format !== 'messages' || dialect.thinking === 'none') return false;
  return reasoning?.enabled === true || reasoning?.adaptive === true;
}
