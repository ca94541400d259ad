import type { Json, JsonObject } from '../../lib/json.ts';
import { readBlocks, readCacheControl, segmentOf } from './messages-blocks.ts';
import { readMessagesConversation } from './messages-conversation.ts';
import {
  fieldArray,
  fieldBoolean,
  fieldInteger,
  fieldNumber,
  fieldObject,
  fieldString,
  refuseMessages,
} from './messages-members.ts';
import { CONTEXT_TOKENS_MAX, findBehaviour, OUTPUT_TOKENS_MAX } from '../models.ts';
import type { Choice, OfferedFunction, Prompt, Segment, Thinking } from '../prompt.ts';
import { Refusal } from '../refusal.ts';
import { countTokens } from '../tokens.ts';

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(
  `model messages max_tokens cache_control container context_management inference_geo mcp_servers metadata
  output_config service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k
  top_p`.split(/\s+/),
);

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const BREAKPOINTS_MAX = 4;
const BUDGET_TOKENS_MIN = 1_024;

export interface MessagesStrictness {
  /** Refuses unknown members, null for absent ones, and two messages of one role in a row. */
  readonly isStrict: boolean;
  /** For `count_tokens`, which takes no `max_tokens`. */
  readonly isCount: boolean;
}

/**
 * Reads the body of `POST /v1/messages` as strictly as the format's vendor does.
 * @throws Refusal
 */
export function readMessages(body: JsonObject, { isStrict, isCount }: MessagesStrictness): Prompt {
  if (isStrict) refuseStrangeMembers(body);
  const model = fieldString(body['model'], 'model');
  const maxTokens = fieldInteger(body['max_tokens'], 'max_tokens', 1);
  if (maxTokens === undefined && !isCount) throw refuseMessages('max_tokens', 'Field required');
  const meaning = findBehaviour(model);
  if (meaning === undefined) throw new Refusal(404, `model: ${model.slice(0, 200)}`);
  checkSettings(body);
  const { functions, segments: toolSegments } = readTools(body['tools']);
  const choice = readToolChoice(body['tool_choice'], functions, body['tools'] !== undefined);
  const { thinking, isBudgeted } = readThinking(body, choice, maxTokens ?? OUTPUT_TOKENS_MAX);
  const conversation = readMessagesConversation(body['messages'], isStrict, isBudgeted);
  const segments = withTopLevelMark(
    [...toolSegments, ...systemSegments(body['system']), ...conversation.segments],
    body,
  );
  checkBreakpoints(segments);
  checkLength(segments);
  const jsonSchema = readOutputSchema(body['output_config']);
  return {
    ...conversation,
    segments,
    model,
    behaviour: meaning.behaviour,
    ...(meaning.status !== undefined && { errorStatus: meaning.status }),
    isStream: fieldBoolean(body['stream'], 'stream') ?? false,
    hasStreamUsage: true,
    functions,
    choice,
    mayCallInParallel: readParallel(body['tool_choice']),
    ...(jsonSchema !== undefined && { jsonSchema }),
    stop: readStop(body['stop_sequences']),
    maxTokens: Math.min(maxTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX),
    thinking,
  };
}

function refuseStrangeMembers(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!KNOWN_MEMBERS.has(name)) throw refuseMessages(name, 'Extra inputs are not permitted');
    if (value === null) throw refuseMessages(name, 'Input should not be null');
  }
}

function checkSettings(body: JsonObject): void {
  fieldNumber(body['temperature'], 'temperature', 0, 1);
  fieldNumber(body['top_p'], 'top_p', 0, 1);
  fieldInteger(body['top_k'], 'top_k', 0);
  const metadata = body['metadata'] === undefined ? {} : fieldObject(body['metadata'], 'metadata');
  for (const name of Object.keys(metadata))
    if (name !== 'user_id') throw refuseMessages(`metadata.${name}`, 'Extra inputs are not permitted');
}

function readStop(stop: Json | undefined): readonly string[] {
  if (stop === undefined) return [];
  return fieldArray(stop, 'stop_sequences').map((sequence, index) => {
    const text = fieldString(sequence, `stop_sequences.${index}`);
    if (text.trim() === '') throw refuseMessages('stop_sequences', 'each stop sequence must contain non-whitespace');
    return text;
  });
}

interface ReadTools {
  /** Those that the caller runs; tools of the vendor are taken and never called. */
  readonly functions: readonly OfferedFunction[];
  readonly segments: readonly Segment[];
}

function readTools(tools: Json | undefined): ReadTools {
  if (tools === undefined) return { functions: [], segments: [] };
  const functions: OfferedFunction[] = [];
  const segments: Segment[] = [];
  const names = new Set<string>();
  for (const [index, item] of fieldArray(tools, 'tools').entries()) {
    const { cache_control: _mark, ...tool } = fieldObject(item, `tools.${index}`);
    const text = JSON.stringify(tool);
    segments.push(
      segmentOf('tool', text, countTokens(text), readCacheControl(fieldObject(item, 'tools'), `tools.${index}`)),
    );
    if (tool['type'] === 'mcp_toolset') continue;
    const name = fieldString(tool['name'], `tools.${index}.name`);
    if (names.has(name)) throw refuseMessages('tools', 'Tool names must be unique.');
    names.add(name);
    if (tool['type'] === undefined || tool['type'] === 'custom')
      functions.push(readCustomTool(tool, name, `tools.${index}.custom`));
    else fieldString(tool['type'], `tools.${index}.type`);
  }
  return { functions, segments };
}

function readCustomTool(tool: JsonObject, name: string, path: string): OfferedFunction {
  if (!TOOL_NAME.test(name))
    throw refuseMessages(`${path}.name`, `String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  const schema = fieldObject(tool['input_schema'], `${path}.input_schema`);
  if (schema['type'] === undefined) throw refuseMessages(`${path}.input_schema.type`, 'Field required');
  if (schema['type'] !== 'object') throw refuseMessages(`${path}.input_schema.type`, "Input should be 'object'");
  return { name, schema };
}

function readToolChoice(choice: Json | undefined, functions: readonly OfferedFunction[], hasTools: boolean): Choice {
  if (choice === undefined) return { type: 'auto' };
  if (!hasTools) throw refuseMessages('tool_choice', 'may only be specified while providing tools');
  const { type: given, name } = fieldObject(choice, 'tool_choice');
  const type = fieldString(given, 'tool_choice.type');
  switch (type) {
    case 'auto':
    case 'none':
      return { type };
    case 'any':
      return { type: 'required' };
    case 'tool': {
      const wanted = fieldString(name, 'tool_choice.name');
      if (!functions.some((offered) => offered.name === wanted))
        throw refuseMessages('tool_choice', `Tool '${wanted.slice(0, 128)}' not found in provided tools`);
      return { type: 'function', name: wanted };
    }
    default:
      throw refuseMessages(
        'tool_choice',
        "Input tag found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
      );
  }
}

function readParallel(choice: Json | undefined): boolean {
  if (choice === undefined) return true;
  const disabled = fieldObject(choice, 'tool_choice')['disable_parallel_tool_use'];
  return fieldBoolean(disabled, 'tool_choice.disable_parallel_tool_use') !== true;
}

function readThinking(
  body: JsonObject,
  choice: Choice,
  maxTokens: number,
): { readonly thinking: Thinking; readonly isBudgeted: boolean } {
  if (body['thinking'] === undefined) return { thinking: { requested: 'default', isHidden: false }, isBudgeted: false };
  const { type, budget_tokens: budget, display } = fieldObject(body['thinking'], 'thinking');
  if (type === 'disabled') return { thinking: { requested: 'off', isHidden: false }, isBudgeted: false };
  if (type !== 'enabled' && type !== 'adaptive')
    throw refuseMessages(
      'thinking',
      "Input tag found using 'type' does not match any of the expected tags: 'disabled', 'enabled', 'adaptive'",
    );
  if (type === 'enabled') {
    const tokens = fieldInteger(budget, 'thinking.enabled.budget_tokens', BUDGET_TOKENS_MIN);
    if (tokens === undefined) throw refuseMessages('thinking.enabled.budget_tokens', 'Field required');
    if (tokens >= maxTokens)
      throw refuseMessages('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  if (display !== undefined && display !== null && display !== 'summarized' && display !== 'omitted')
    throw refuseMessages('thinking.display', "Input should be 'summarized' or 'omitted'");
  if (choice.type === 'required' || choice.type === 'function')
    throw new Refusal(400, 'Thinking may not be enabled when tool_choice forces tool use.');
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    throw new Refusal(400, '`temperature` may only be set to 1 when thinking is enabled.');
  return { thinking: { requested: 'on', isHidden: display === 'omitted' }, isBudgeted: type === 'enabled' };
}

function systemSegments(system: Json | undefined): readonly Segment[] {
  if (system === undefined) return [];
  return readBlocks(system, 'system').map(({ type, segment }, index) => {
    if (type !== 'text') throw refuseMessages(`system.${index}.type`, "Input should be 'text'");
    return { ...segment, place: 'system' };
  });
}

/** `cache_control` of the request itself marks its last block. */
function withTopLevelMark(segments: readonly Segment[], body: JsonObject): readonly Segment[] {
  const cache = readCacheControl(body, 'request');
  const last = segments.at(-1);
  return cache === undefined || last === undefined ? segments : [...segments.slice(0, -1), { ...last, cache }];
}

function checkBreakpoints(segments: readonly Segment[]): void {
  const marks = segments.flatMap(({ cache }) => cache ?? []);
  if (marks.length > BREAKPOINTS_MAX)
    throw new Refusal(
      400,
      `A maximum of ${BREAKPOINTS_MAX} blocks with cache_control may be provided. Found ${marks.length}.`,
    );
  if (marks.lastIndexOf('1h') > marks.indexOf('5m') && marks.includes('5m'))
    throw new Refusal(400, "A ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.");
}

function checkLength(segments: readonly Segment[]): void {
  const tokens = segments.reduce((sum, segment) => sum + segment.tokens, 0);
  if (tokens > CONTEXT_TOKENS_MAX)
    throw new Refusal(400, `prompt is too long: ${tokens} tokens > ${CONTEXT_TOKENS_MAX} maximum`);
}

function readOutputSchema(config: Json | undefined): Json | undefined {
  if (config === undefined) return undefined;
  const { format } = fieldObject(config, 'output_config');
  if (format === undefined || format === null) return undefined;
  const { type, schema } = fieldObject(format, 'output_config.format');
  if (type !== 'json_schema') throw refuseMessages('output_config.format.type', "Input should be 'json_schema'");
  return fieldObject(schema, 'output_config.format.schema');
}
