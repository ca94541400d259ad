import type { ClientFormatId } from '../../../canonical/extra.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

/** Members of all formats that a preset keeps. What is of one request only (its messages, its stream) is not among them. */
const SHARED_MEMBERS = [
  'model',
  'models',
  'provider',
  'route',
  'plugins',
  'transforms',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'tools',
  'tool_choice',
  'stop_server_tools_when',
  'max_tool_calls',
  'service_tier',
  'cache_control',
] as const;

const CHAT_MEMBERS = [
  'max_completion_tokens',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'stop',
  'seed',
  'modalities',
  'parallel_tool_calls',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'verbosity',
  'prompt_cache_options',
  'image_config',
  'audio',
  'web_search_options',
] as const;

const MESSAGES_MEMBERS = [
  'stop_sequences',
  'thinking',
  'output_config',
  'context_management',
  'speed',
  'fallbacks',
] as const;

/** It accepts those of chat but for two, and has members of its own. */
const RESPONSES_MEMBERS = [
  ...CHAT_MEMBERS.filter((member) => member !== 'verbosity' && member !== 'audio'),
  'max_output_tokens',
  'text',
  'include',
  'truncation',
  'context_management',
] as const;

/** Steer the cache of responses; no format knows them. @spec preset-12 */
export const CACHE_MEMBERS: readonly string[] = ['cache_enabled', 'cache_ttl_seconds'];
const CACHE_TTL_S_MAX = 86_400;

/** Members that only the one format has. */
export const OWN_MEMBERS: Readonly<Record<ClientFormatId, readonly string[]>> = {
  chat: CHAT_MEMBERS,
  messages: MESSAGES_MEMBERS,
  responses: RESPONSES_MEMBERS,
};

/** What a preset is made of. */
export interface PresetContent {
  readonly config: JsonObject;
  readonly systemPrompt: string | null;
}

/**
 * What a preset keeps of a request body that its format has found to be good: settings and instructions.
 * @throws GatewayError 400 for a preset inside a preset, and for what steers the cache in a wrong way
 * @spec preset-1, preset-2
 */
export function decodePreset(format: ClientFormatId, body: JsonObject): PresetContent {
  refuseNesting(body);
  checkCache(body);
  const config: Record<string, Json> = {};
  for (const member of [...SHARED_MEMBERS, ...OWN_MEMBERS[format], ...CACHE_MEMBERS]) {
    const value = body[member];
    if (value !== undefined && value !== null) config[member] = value;
  }
  return { config, systemPrompt: READERS[format](body) };
}

function refuseNesting({ model, models, preset }: JsonObject): void {
  if (preset !== undefined && preset !== null) throw invalid('preset', 'cannot be part of a preset');
  for (const [path, slug] of [['model', model] as const, ...entriesOf(models)])
    if (typeof slug === 'string' && slug.includes('@preset/'))
      throw invalid(path, 'cannot be a preset inside a preset');
}

function entriesOf(models: Json | undefined): readonly (readonly [path: string, slug: Json])[] {
  return Array.isArray(models) ? models.map((slug: Json, index) => [`models[${index}]`, slug] as const) : [];
}

function checkCache({ cache_enabled: enabled, cache_ttl_seconds: ttl }: JsonObject): void {
  if (enabled !== undefined && enabled !== null && typeof enabled !== 'boolean')
    throw invalid('cache_enabled', 'must be true or false');
  if (ttl === undefined || ttl === null) return;
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 1 || ttl > CACHE_TTL_S_MAX)
    throw invalid('cache_ttl_seconds', `must be a whole number from 1 to ${CACHE_TTL_S_MAX}`);
}

/** Where each format has its instructions. */
const READERS: Readonly<Record<ClientFormatId, (body: JsonObject) => string | null>> = {
  chat: ({ messages }) => systemOfMessages(messages),
  messages: ({ system }) => textOf(system),
  responses: ({ instructions, input }) => {
    const texts = [textOf(instructions), systemOfMessages(input)].filter((text) => text !== null);
    return texts.length === 0 ? null : texts.join('\n\n');
  },
};

/** Instructions of the chat format stand among its messages, and some of the responses format among its items. */
function systemOfMessages(messages: Json | undefined): string | null {
  if (!Array.isArray(messages)) return null;
  const texts = messages
    .filter(isJsonObject)
    .filter(({ role }) => role === 'system' || role === 'developer')
    .flatMap(({ content }) => textOf(content) ?? []);
  return texts.length === 0 ? null : texts.join('\n\n');
}

function textOf(content: Json | undefined): string | null {
  if (typeof content === 'string') return content === '' ? null : content;
  if (!Array.isArray(content)) return null;
  const texts = content
    .filter(isJsonObject)
    .flatMap(({ text }) => (typeof text === 'string' && text !== '' ? text : []));
  return texts.length === 0 ? null : texts.join('\n\n');
}
