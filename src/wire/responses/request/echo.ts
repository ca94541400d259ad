import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { ResponsesRequest } from './request-schema.ts';

/** Members that a response repeats as the caller wrote them. */
const REPEATED = [
  'instructions',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'metadata',
  'max_output_tokens',
  'max_tool_calls',
  'top_logprobs',
  'reasoning',
  'text',
  'truncation',
  'safety_identifier',
  'user',
  'prompt_cache_key',
  'prompt_cache_options',
  'previous_response_id',
  'service_tier',
  'background',
] as const;
/** Members of a server's entry that hold secrets of the caller's. */
const SECRETS: ReadonlySet<string> = new Set(['authorization', 'headers']);

/** What a response repeats of its request, without what the caller keeps from others. */
export function echoOf(parsed: ResponsesRequest): JsonObject {
  const echo: Record<string, Json | undefined> = {};
  const given: Readonly<Record<string, unknown>> = parsed;
  for (const member of REPEATED) {
    const value = given[member];
    if (isJson(value)) echo[member] = value;
  }
  if (parsed.tools !== undefined) echo['tools'] = parsed.tools.map(withoutSecrets);
  return echo;
}

/** A request came out of a parser: what is there is JSON. */
function isJson(value: unknown): value is Json {
  return value !== undefined;
}

/** An entry of `tools` as others may see it. */
export function withoutSecrets(tool: Json): Json {
  if (!isJsonObject(tool) || tool['type'] !== 'mcp') return tool;
  return Object.fromEntries(Object.entries(tool).filter(([member]) => !SECRETS.has(member)));
}
