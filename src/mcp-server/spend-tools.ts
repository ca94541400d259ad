import { z } from 'zod';
import { GatewayError } from '../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { defineTool, type Tool } from './define-tool.ts';

const MESSAGE_CHARS_MAX = 200_000;
const PROMPT_CHARS_MAX = 10_000;
const NAME_CHARS_MAX = 512;
const SIZE_CHARS_MAX = 20;
const TOKENS = 2_048;
const TOKENS_MAX = 8_192;
const COMMENT_CHARS_MAX = 1_000;
/** Of a picture in base64; clients hold answers in memory. */
const PICTURE_CHARS_MAX = 6_990_508;

const model = z.string().min(1).max(NAME_CHARS_MAX).describe('A slug such as author/name.');

export const SPEND_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'send-message',
    title: 'Send a message to a model',
    description: 'Sends a message to a model and returns its response. It is charged to the key that is used.',
    isReadOnly: false,
    scope: 'mcp:spend',
    input: z.object({
      model,
      message: z.string().min(1).max(MESSAGE_CHARS_MAX),
      system: z.string().max(MESSAGE_CHARS_MAX).optional().describe('Instructions for the model.'),
      max_tokens: z.int().min(1).max(TOKENS_MAX).default(TOKENS),
      reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high']).optional(),
      web_search: z.boolean().default(false).describe('Lets the model search the web, at the price of a search.'),
    }),
    output: z.object({
      id: z.string(),
      model: z.string(),
      text: z.string(),
      finish_reason: z.string().nullable(),
      usage: z.looseObject({}),
    }),
    async run({ model: slug, message, system, max_tokens, reasoning_effort, web_search }, call) {
      const messages = [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: message },
      ];
      const body: JsonObject = {
        model: slug,
        messages,
        max_tokens,
        ...(reasoning_effort !== undefined && { reasoning: { effort: reasoning_effort } }),
        ...(web_search && { plugins: [{ id: 'web' }] }),
      };
      return { structured: answerOf(await call.abilities.chat(call.principal, body, call.signal)) };
    },
  }),
  defineTool({
    name: 'generate-image',
    title: 'Generate an image',
    description: 'Makes a picture from a text. It is charged to the key that is used.',
    isReadOnly: false,
    scope: 'mcp:spend',
    input: z.object({
      model,
      prompt: z.string().min(1).max(PROMPT_CHARS_MAX),
      size: z.string().max(SIZE_CHARS_MAX).optional().describe('Such as 1024x1024.'),
    }),
    output: z.object({ media_type: z.string(), usage: z.looseObject({}) }),
    async run({ model: slug, prompt, size }, call) {
      const body = { model: slug, prompt, n: 1, ...(size !== undefined && { size }) };
      const { data, usage } = await call.abilities.makeImage(call.principal, body, call.signal);
      const picture = Array.isArray(data) ? data[0] : undefined;
      const base64 = isJsonObject(picture) ? picture['b64_json'] : undefined;
      const type = isJsonObject(picture) ? picture['media_type'] : undefined;
      if (typeof base64 !== 'string') throw new GatewayError('provider_unavailable', 'The model gave no picture.');
      if (base64.length > PICTURE_CHARS_MAX)
        throw new GatewayError('invalid_request', 'The picture is larger than 5 MB: ask for a smaller size.');
      const mimeType = typeof type === 'string' ? type : 'image/png';
      return {
        structured: { media_type: mimeType, usage: objectOf(usage) },
        images: [{ data: base64, mimeType }],
      };
    },
  }),
  defineTool({
    name: 'send-feedback',
    title: 'Send feedback',
    description: 'Says what was wrong with a generation of this key.',
    isReadOnly: false,
    scope: 'mcp:feedback',
    input: z.object({
      generation_id: z.string().min(1).max(NAME_CHARS_MAX),
      category: z.string().max(NAME_CHARS_MAX).describe('Such as incoherence, latency, billing or other.'),
      comment: z.string().max(COMMENT_CHARS_MAX).optional(),
    }),
    output: z.object({ success: z.boolean() }),
    async run(input, { principal, abilities }) {
      await abilities.feedback(principal, { ...input });
      return { structured: { success: true } };
    },
  }),
];

function answerOf(response: JsonObject): JsonObject {
  const { id, model: slug, choices, usage } = response;
  const choice = Array.isArray(choices) && isJsonObject(choices[0]) ? choices[0] : {};
  const message = objectOf(choice['message']);
  return {
    id: textOf(id),
    model: textOf(slug),
    text: textOf(message['content']),
    finish_reason: typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : null,
    usage: objectOf(usage),
  };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
