import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { readCacheMark, readChatConversation } from './chat-conversation.ts';
import {
  chatArray,
  chatBoolean,
  chatInteger,
  chatNumber,
  chatObject,
  chatString,
  chatTypeRefusal,
  refuseChat,
} from './chat-members.ts';
import { CONTEXT_TOKENS_MAX, findBehaviour, OUTPUT_TOKENS_MAX } from '../models.ts';
import type { Choice, OfferedFunction, Prompt, Segment, Thinking } from '../prompt.ts';
import { Refusal } from '../refusal.ts';
import { countTokens } from '../tokens.ts';

/** Members that OpenAI's chat format has, and those that other hosts of it share. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set(
  `messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
  metadata modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options
  prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream
  stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options
  top_k top_a min_p repetition_penalty reasoning thinking cache_control`.split(/\s+/),
);

const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const STOP_SEQUENCES_MAX = 4;

/**
 * Reads the body of `POST /v1/chat/completions` as strictly as the format's vendor does.
 * @param isStrict refuses unknown fields, and null for an absent field
 * @throws Refusal
 */
export function readChat(body: JsonObject, isStrict: boolean): Prompt {
  if (isStrict) refuseStrangeMembers(body);
  const model = chatString(body['model'], 'model');
  const meaning = findBehaviour(model);
  if (meaning === undefined)
    throw new Refusal(404, `The model \`${model.slice(0, 200)}\` does not exist.`, { code: 'model_not_found' });
  checkSettings(body);
  const functions = readTools(body['tools']);
  const conversation = readChatConversation(body['messages']);
  const segments = withTopLevelMark([...toolSegments(body['tools']), ...conversation.segments], body);
  const tokens = segments.reduce((sum, segment) => sum + segment.tokens, 0);
  if (tokens > CONTEXT_TOKENS_MAX)
    throw refuseChat(
      'messages',
      `This model's maximum context length is ${CONTEXT_TOKENS_MAX} tokens. However, your messages resulted in ${tokens} tokens.`,
      'context_length_exceeded',
    );
  const { isStream, hasStreamUsage } = readDelivery(body);
  const jsonSchema = readResponseFormat(body['response_format']);
  return {
    ...conversation,
    segments,
    model,
    behaviour: meaning.behaviour,
    ...(meaning.status !== undefined && { errorStatus: meaning.status }),
    isStream,
    hasStreamUsage,
    functions,
    choice: readToolChoice(body, functions),
    mayCallInParallel: readParallel(body),
    ...(jsonSchema !== undefined && { jsonSchema }),
    stop: readStop(body['stop']),
    maxTokens: readMaxTokens(body),
    thinking: readThinking(body),
  };
}

function refuseStrangeMembers(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!KNOWN_MEMBERS.has(name))
      throw refuseChat(name, `Unrecognized request argument supplied: ${name}`, 'unknown_parameter');
    if (value === null) throw chatTypeRefusal(name, 'a value', value);
  }
}

function checkSettings(body: JsonObject): void {
  chatNumber(body, 'temperature', 0, 2);
  chatNumber(body, 'top_p', 0, 1);
  chatNumber(body, 'frequency_penalty', -2, 2);
  chatNumber(body, 'presence_penalty', -2, 2);
  chatInteger(body, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  if (chatInteger(body, 'top_logprobs', 0, 20) !== undefined && chatBoolean(body, 'logprobs') !== true)
    throw refuseChat('top_logprobs', "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.");
  if ((chatInteger(body, 'n', 1, 128) ?? 1) !== 1) throw refuseChat('n', "This model supports 'n' = 1 only.");
}

function readDelivery(body: JsonObject): Pick<Prompt, 'isStream' | 'hasStreamUsage'> {
  const isStream = chatBoolean(body, 'stream') ?? false;
  const options = body['stream_options'];
  if (options === undefined || options === null) return { isStream, hasStreamUsage: false };
  if (!isStream)
    throw refuseChat('stream_options', "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  return { isStream, hasStreamUsage: chatBoolean(chatObject(options, 'stream_options'), 'include_usage') ?? false };
}

function readMaxTokens(body: JsonObject): number {
  const old = chatInteger(body, 'max_tokens', 1, Number.MAX_SAFE_INTEGER);
  const current = chatInteger(body, 'max_completion_tokens', 1, Number.MAX_SAFE_INTEGER);
  if (old !== undefined && current !== undefined)
    throw refuseChat(
      'max_tokens',
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'invalid_parameter_combination',
    );
  return Math.min(current ?? old ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
}

function readStop(stop: Json | undefined): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const sequences = typeof stop === 'string' ? [stop] : chatArray(stop, 'stop');
  if (sequences.length > STOP_SEQUENCES_MAX)
    throw refuseChat('stop', `Invalid 'stop': array too long. Expected at most ${STOP_SEQUENCES_MAX} items.`);
  return sequences.map((sequence, index) => {
    const text = chatString(sequence, `stop[${index}]`);
    if (text === '') throw refuseChat(`stop[${index}]`, `Invalid 'stop[${index}]': empty string.`, 'empty_string');
    return text;
  });
}

function readTools(tools: Json | undefined): readonly OfferedFunction[] {
  if (tools === undefined || tools === null) return [];
  return chatArray(tools, 'tools').map((item, index) => {
    const tool = chatObject(item, `tools[${index}]`);
    if (tool['type'] !== 'function')
      throw refuseChat(`tools[${index}].type`, `Invalid value for 'tools[${index}].type': expected 'function'.`);
    const { name, parameters } = chatObject(tool['function'], `tools[${index}].function`);
    const text = chatString(name, `tools[${index}].function.name`);
    if (!FUNCTION_NAME.test(text))
      throw refuseChat(
        `tools[${index}].function.name`,
        `Invalid 'tools[${index}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      );
    if (parameters === undefined) return { name: text };
    return { name: text, schema: chatObject(parameters, `tools[${index}].function.parameters`) };
  });
}

/** What a tool costs and marks. The mark itself is no part of the prefix: it moves on with the conversation. */
function toolSegments(tools: Json | undefined): readonly Segment[] {
  if (tools === undefined || tools === null) return [];
  return chatArray(tools, 'tools').map((item, index) => {
    const tool = chatObject(item, `tools[${index}]`);
    const text = JSON.stringify(tool['function']);
    const cache = readCacheMark(tool, `tools[${index}]`);
    return { place: 'tool', text, tokens: countTokens(text), ...(cache !== undefined && { cache }) };
  });
}

/** `cache_control` of the request itself marks its last part. */
function withTopLevelMark(segments: readonly Segment[], body: JsonObject): readonly Segment[] {
  const cache = body['cache_control'] === undefined ? undefined : readCacheMark(body, 'request');
  const last = segments.at(-1);
  return cache === undefined || last === undefined ? segments : [...segments.slice(0, -1), { ...last, cache }];
}

function readToolChoice(body: JsonObject, functions: readonly OfferedFunction[]): Choice {
  const choice = body['tool_choice'];
  if (choice === undefined || choice === null) return { type: 'auto' };
  if (functions.length === 0)
    throw refuseChat(
      'tool_choice',
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
    );
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { type: choice };
  const named = chatObject(choice, 'tool_choice');
  if (named['type'] !== 'function')
    throw refuseChat('tool_choice.type', "Invalid value for 'tool_choice.type': expected 'function'.");
  const name = chatString(chatObject(named['function'], 'tool_choice.function')['name'], 'tool_choice.function.name');
  if (!functions.some((offered) => offered.name === name))
    throw refuseChat('tool_choice', `Tool choice '${name}' not found in 'tools' parameter.`);
  return { type: 'function', name };
}

function readParallel(body: JsonObject): boolean {
  const parallel = chatBoolean(body, 'parallel_tool_calls');
  if (parallel !== undefined && body['tools'] === undefined)
    throw refuseChat('parallel_tool_calls', "'parallel_tool_calls' is only allowed when 'tools' are specified.");
  return parallel ?? true;
}

function readResponseFormat(format: Json | undefined): Json | undefined {
  if (format === undefined || format === null) return undefined;
  const { type, json_schema: wrapper } = chatObject(format, 'response_format');
  if (type === 'text' || type === 'json_object') return undefined;
  if (type !== 'json_schema')
    throw refuseChat(
      'response_format.type',
      "Invalid value for 'response_format.type': expected 'text', 'json_object' or 'json_schema'.",
    );
  const { name, schema } = chatObject(wrapper, 'response_format.json_schema');
  if (!FUNCTION_NAME.test(chatString(name, 'response_format.json_schema.name')))
    throw refuseChat(
      'response_format.json_schema.name',
      "Invalid 'response_format.json_schema.name': string does not match pattern.",
    );
  return schema === undefined ? undefined : chatObject(schema, 'response_format.json_schema.schema');
}

function readThinking(body: JsonObject): Thinking {
  const effort = body['reasoning_effort'];
  if (effort !== undefined && effort !== null && !(typeof effort === 'string' && EFFORTS.includes(effort)))
    throw refuseChat(
      'reasoning_effort',
      `Invalid value for 'reasoning_effort': supported values are ${EFFORTS.join(', ')}.`,
    );
  const settings = isJsonObject(body['reasoning']) ? body['reasoning'] : {};
  const isOff = effort === 'none' || settings['effort'] === 'none' || settings['enabled'] === false;
  const isOn = typeof effort === 'string' || settings['effort'] !== undefined || settings['enabled'] === true;
  return { requested: isOff ? 'off' : isOn ? 'on' : 'default', isHidden: false };
}
