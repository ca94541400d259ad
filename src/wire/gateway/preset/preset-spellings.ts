import type { ClientFormatId } from '../../../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { OWN_MEMBERS } from './preset-config.ts';
import { objectOf, withoutAbsent } from '../../json-fields.ts';

/** A preset's config with the member names of one format. */
export interface SpelledConfig {
  readonly config: JsonObject;
  /** Members that the format cannot express. */
  readonly dropped: readonly string[];
}

type Members = Record<string, Json | undefined>;

/**
 * Translates a preset that may have been written in another format. Members that both formats have get this one's names;
 * the others are listed, so that the caller is warned that they do not count. @spec preset-11
 */
export function spellConfig(format: ClientFormatId, config: JsonObject): SpelledConfig {
  const members: Members = { ...config };
  const dropped: string[] = [];
  if (format !== 'responses') flattenText(members);
  if (format === 'messages') spellForMessages(members);
  else spellForChat(members);
  if (format === 'responses') nestText(members);
  const tools = spellTools(format, members['tools'], dropped);
  if (tools !== undefined) members['tools'] = tools;
  const own = new Set(OWN_MEMBERS[format]);
  for (const member of new Set(Object.values(OWN_MEMBERS).flat())) {
    if (own.has(member) || members[member] === undefined) continue;
    delete members[member];
    dropped.push(member);
  }
  return { config: members, dropped };
}

/** From the names of the responses format to those of chat. */
function flattenText(members: Members): void {
  const { text, max_output_tokens: limit, tool_choice: choice } = members;
  if (limit !== undefined) put(members, 'max_tokens', limit);
  delete members['max_output_tokens'];
  if (isJsonObject(choice) && choice['type'] === 'function' && typeof choice['name'] === 'string')
    members['tool_choice'] = { type: 'function', function: { name: choice['name'] } };
  if (!isJsonObject(text)) return;
  delete members['text'];
  put(members, 'verbosity', text['verbosity']);
  const { format: form } = text;
  if (!isJsonObject(form)) return;
  const { type, ...shape } = form;
  put(members, 'response_format', type === 'json_schema' ? { type, json_schema: shape } : form);
}

/** The other way; the rest of chat's names is accepted there. */
function nestText(members: Members): void {
  const { text, verbosity, response_format: form } = members;
  const { json_schema: shape, ...plain } = objectOf(form) ?? {};
  const format = form === undefined ? {} : { format: { ...plain, ...objectOf(shape) } };
  const nested = { ...format, ...(verbosity !== undefined && { verbosity }) };
  if (Object.keys(nested).length > 0) members['text'] = { ...nested, ...objectOf(text) };
  delete members['verbosity'];
  delete members['response_format'];
}

function spellForMessages(members: Members): void {
  const { stop, response_format: form, tool_choice: choice } = members;
  rename(members, 'max_completion_tokens', 'max_tokens');
  if (stop !== undefined) put(members, 'stop_sequences', typeof stop === 'string' ? [stop] : stop);
  if (isJsonObject(members['reasoning'])) spellReasoning(members, members['reasoning']);
  const effort = members['reasoning_effort'];
  if (typeof effort === 'string' && effort !== 'none') addOutput(members, { effort });
  const schema = isJsonObject(form) && isJsonObject(form['json_schema']) ? form['json_schema']['schema'] : undefined;
  if (isJsonObject(schema)) addOutput(members, { format: { type: 'json_schema', schema } });
  const spelled = choiceForMessages(choice);
  if (spelled !== undefined) members['tool_choice'] = spelled;
  for (const member of ['stop', 'reasoning', 'reasoning_effort']) delete members[member];
  if (schema !== undefined) delete members['response_format'];
}

function spellReasoning(members: Members, reasoning: JsonObject): void {
  const { max_tokens: budget, enabled, effort } = reasoning;
  if (enabled === false || effort === 'none') put(members, 'thinking', { type: 'disabled' });
  else if (typeof budget === 'number') put(members, 'thinking', { type: 'enabled', budget_tokens: budget });
  else if (enabled === true) put(members, 'thinking', { type: 'adaptive' });
  if (typeof effort === 'string' && effort !== 'none') addOutput(members, { effort });
}

function addOutput(members: Members, more: JsonObject): void {
  const before = members['output_config'];
  members['output_config'] = { ...more, ...(isJsonObject(before) && before) };
}

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', required: 'any', none: 'none' };

function choiceForMessages(choice: Json | undefined): Json | undefined {
  if (typeof choice === 'string') return { type: CHOICES[choice] ?? choice };
  const name = isJsonObject(choice) && isJsonObject(choice['function']) ? choice['function']['name'] : undefined;
  return name === undefined ? undefined : { type: 'tool', name };
}

function spellForChat(members: Members): void {
  const { stop_sequences: stop, thinking, output_config: output, fallbacks, tool_choice: choice } = members;
  if (stop !== undefined) put(members, 'stop', stop);
  if (isJsonObject(thinking) || isJsonObject(output)) put(members, 'reasoning', reasoningOf(thinking, output));
  const form = isJsonObject(output) && isJsonObject(output['format']) ? output['format']['schema'] : undefined;
  if (form !== undefined)
    put(members, 'response_format', { type: 'json_schema', json_schema: { name: 'answer', schema: form } });
  if (Array.isArray(fallbacks))
    put(
      members,
      'models',
      fallbacks.filter(isJsonObject).flatMap(({ model }) => model ?? []),
    );
  const spelled = choiceForChat(choice);
  if (spelled !== undefined) members['tool_choice'] = spelled;
  for (const member of ['stop_sequences', 'thinking', 'output_config', 'fallbacks']) delete members[member];
}

function reasoningOf(thinking: Json | undefined, output: Json | undefined): JsonObject | undefined {
  const { type, budget_tokens: budget } = isJsonObject(thinking) ? thinking : {};
  const effort = isJsonObject(output) ? output['effort'] : undefined;
  const reasoning = {
    ...(typeof budget === 'number' && { max_tokens: budget }),
    ...(type === 'disabled' && { enabled: false }),
    ...(type === 'adaptive' && { enabled: true }),
    ...(typeof effort === 'string' && typeof budget !== 'number' && { effort }),
  };
  return Object.keys(reasoning).length === 0 ? undefined : reasoning;
}

function choiceForChat(choice: Json | undefined): Json | undefined {
  if (!isJsonObject(choice)) return undefined;
  const { type, name } = choice;
  if (type === 'tool' && typeof name === 'string') return { type: 'function', function: { name } };
  if (type === 'any') return 'required';
  return type === 'auto' || type === 'none' ? type : undefined;
}

function spellTools(format: ClientFormatId, tools: Json | undefined, dropped: string[]): readonly Json[] | undefined {
  if (!Array.isArray(tools)) return undefined;
  return tools.flatMap((tool: Json, index) => {
    const spelled = isJsonObject(tool) ? spellTool(format, tool) : tool;
    if (spelled === undefined) dropped.push(`tools[${index}]`);
    return spelled === undefined ? [] : [spelled];
  });
}

function spellTool(format: ClientFormatId, given: JsonObject): JsonObject | undefined {
  const isFlat = given['type'] === 'function' && given['name'] !== undefined;
  const tool = isFlat && format !== 'responses' ? asChatFunction(given) : given;
  const { type, function: called, name, description, input_schema: schema, strict, ...rest } = tool;
  const isNamed = typeof type === 'string' && NAMED_TOOLS.has(type) && schema === undefined;
  if (format === 'messages') {
    if (!isJsonObject(called)) return isNamed ? undefined : tool;
    const { name: own, description: text, parameters, strict: isStrict } = called;
    return {
      ...rest,
      ...withoutAbsent({ name: own, description: text, strict: isStrict }),
      input_schema: parameters ?? { type: 'object' },
    };
  }
  if (isJsonObject(called) || (format === 'responses' && isNamed)) return tool;
  if (schema !== undefined)
    return { ...rest, type: 'function', function: withoutAbsent({ name, description, strict, parameters: schema }) };
  // What only the vendor of the messages format runs.
  return typeof type === 'string' && (type.startsWith('service:') || name === undefined) ? tool : undefined;
}

/** Tools of the responses format that have a name. */
const NAMED_TOOLS: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

/** A function of the responses format, where nothing is nested. */
function asChatFunction({ type, name, description, parameters, strict, ...rest }: JsonObject): JsonObject {
  return { ...rest, type, function: withoutAbsent({ name, description, strict, parameters }) };
}

function rename(members: Members, from: string, to: string): void {
  if (members[from] !== undefined) members[to] = members[from];
  delete members[from];
}

/** A member of this format holds more than a translation of it. */
function put(members: Members, member: string, value: Json | undefined): void {
  if (value !== undefined) members[member] ??= value;
}
