import type { CallerToolKind } from '../../../canonical/blocks.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { FunctionTool, Tool } from '../../../canonical/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { asExtra, restOf } from '../../extra.ts';
import { nameOf, objectAt, textOf } from '../../json-fields.ts';
import { CUT_GRAMMAR } from '../../gateway/custom-tools/custom-tools.ts';
import { functionFor, isNamelessKind } from '../caller-tools.ts';
import { decodeCacheControl } from './content-in.ts';
import { isAbsent, type Warn } from './read-fields.ts';
import { decodeServerTool, isServiceTool } from './server-tools-in.ts';
import { namespacedOf, ToolNames } from './tool-names-in.ts';

/** Of one request, with those that items declare. */
const TOOLS_MAX = 1_024;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const SYNTAXES: ReadonlySet<unknown> = new Set(['lark', 'regex']);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'parameters',
  'strict',
  'function',
  'cache_control',
  'prompt_cache_breakpoint',
]);

/** An entry that declares a tool, where it stood: in `tools`, or in an item. */
export interface ToolEntry {
  readonly value: Json;
  readonly path: string;
  /** It was searched for and found: it is not hidden any more. */
  readonly isFound?: true;
}

export interface DecodedTools {
  readonly tools: readonly Tool[];
  readonly names: ToolNames;
}

interface Declared {
  readonly tool: Tool;
  readonly path: string;
}

/**
 * All tools of a request as one list.
 * @throws GatewayError 400 for an entry that is none, and for two tools with one name
 */
export function decodeTools(entries: readonly ToolEntry[], warn: Warn): DecodedTools {
  const names = new ToolNames();
  const declared: Declared[] = entries.flatMap((entry) => decodeEntry(entry, names, warn));
  if (declared.length > TOOLS_MAX) throw invalid('tools', `must have at most ${TOOLS_MAX} tools`);
  return { tools: withoutDuplicates(declared, warn), names };
}

function decodeEntry({ value, path, isFound }: ToolEntry, names: ToolNames, warn: Warn): readonly Declared[] {
  if (!isJsonObject(value)) throw invalid(path, 'must be an object');
  const type = typeOf(value, path);
  if (type === 'namespace') return decodeNamespace(value, path, names, isFound, warn);
  const tool = decodeTool(type, value, path, warn);
  if (tool === undefined) return [];
  if (tool.type === 'function') names.declareBare(tool.name);
  return [{ tool: isFound === true ? markFound(tool) : tool, path }];
}

/** A bare function has no type. */
function typeOf(value: JsonObject, path: string): string {
  const type = value['type'];
  if (isAbsent(type) && typeof value['name'] === 'string') return 'function';
  if (typeof type !== 'string' || type === '') throw invalid(`${path}.type`, 'must be the type of the tool');
  return type;
}

function decodeTool(type: string, value: JsonObject, path: string, warn: Warn): Tool | undefined {
  if (type === 'function') return decodeFunction(value, path);
  if (type === 'custom') return decodeCallerTool('custom', value, path, warn);
  if (isServiceTool(type)) {
    const emulated = kindOfService(type, value);
    if (emulated === undefined) return decodeServerTool(type, value);
    return decodeCallerTool(emulated, { type: emulated }, path, warn);
  }
  if (isNamelessKind(type) && isRunByCaller(type, value)) return decodeCallerTool(type, value, path, warn);
  return decodeServerTool(type, value);
}

/** Shells and patches of the gateway's own names run at the caller, unless its own engine is requested. */
function kindOfService(type: string, value: JsonObject): 'shell' | 'apply_patch' | undefined {
  const { engine } = objectAt(value, 'parameters');
  const isCallers = isAbsent(engine) || engine === 'auto' || engine === 'native';
  if (!isCallers) return undefined;
  if (type === 'service:apply_patch') return 'apply_patch';
  return type === 'service:shell' || type === 'service:bash' ? 'shell' : undefined;
}

function isRunByCaller(type: string, value: JsonObject): boolean {
  if (type === 'tool_search') return value['execution'] === 'client';
  if (type !== 'shell') return true;
  const environment = textOf(objectAt(value, 'environment')['type']);
  return environment === undefined || environment === 'local';
}

/** The function of chat's spelling stands in a member of its own. */
function decodeFunction(entry: JsonObject, path: string): FunctionTool {
  const nested = isJsonObject(entry['function']) ? entry['function'] : undefined;
  const value = nested ?? entry;
  const at = nested === undefined ? path : `${path}.function`;
  const { description, parameters, strict } = value;
  if (!isAbsent(parameters) && !isJsonObject(parameters)) throw invalid(`${at}.parameters`, 'must be an object');
  if (!isAbsent(strict) && typeof strict !== 'boolean') throw invalid(`${at}.strict`, 'must be true or false');
  return {
    type: 'function',
    name: readName(value, at),
    ...readDescription(description, at),
    ...(isJsonObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    ...decodeCacheControl(entry),
    ...asExtra('responses', restOf(value, FUNCTION_MEMBERS)),
  };
}

function readName(value: JsonObject, path: string): string {
  const { name } = value;
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw invalid(`${path}.name`, 'must have 1 to 128 letters, digits, "_" and "-"');
}

function readDescription(value: Json | undefined, path: string): { readonly description?: string } {
  if (isAbsent(value)) return {};
  if (typeof value !== 'string') throw invalid(`${path}.description`, 'must be a string');
  return { description: value };
}

function decodeCallerTool(kind: CallerToolKind, value: JsonObject, path: string, warn: Warn): FunctionTool {
  if (kind === 'custom') checkGrammar(value, path);
  readDescription(value['description'], path);
  const { isCut, ...shape } = functionFor(kind, value);
  if (isCut) warn('field-changed', `${path}.format.definition`, CUT_GRAMMAR);
  const name = kind === 'custom' ? readName(value, path) : kind;
  return { type: 'function', name, ...shape, kind, declared: value, ...decodeCacheControl(value) };
}

function checkGrammar(value: JsonObject, path: string): void {
  const { format } = value;
  if (isAbsent(format)) return;
  if (!isJsonObject(format)) throw invalid(`${path}.format`, 'must be an object');
  if (format['type'] !== 'grammar') return;
  if (!SYNTAXES.has(format['syntax'])) throw invalid(`${path}.format.syntax`, 'must be one of "lark", "regex"');
  if (typeof format['definition'] !== 'string') throw invalid(`${path}.format.definition`, 'must be a string');
}

/** The tools of a namespace. Its description is sent with the first, where there are no namespaces. */
function decodeNamespace(
  value: JsonObject,
  path: string,
  names: ToolNames,
  isFound: true | undefined,
  warn: Warn,
): readonly Declared[] {
  const namespace = readName(value, path);
  const listed = value['tools'];
  if (!Array.isArray(listed)) throw invalid(`${path}.tools`, 'must be an array');
  const { description = '' } = readDescription(value['description'], path);
  const members: readonly Json[] = listed;
  return members.map((member, at): Declared => {
    const memberPath = `${path}.tools[${at}]`;
    if (!isJsonObject(member)) throw invalid(memberPath, 'must be an object');
    const type = typeOf(member, memberPath);
    if (type !== 'function' && type !== 'custom')
      throw invalid(`${memberPath}.type`, 'must be one of "function", "custom"');
    const tool =
      type === 'custom'
        ? decodeCallerTool('custom', member, memberPath, warn)
        : decodeFunction(withDeferral(member, value), memberPath);
    const namespaced = namespacedOf(namespace, tool.name);
    if (namespaced === undefined) names.declareBare(tool.name);
    const placed: FunctionTool = {
      ...tool,
      ...(namespaced && { name: names.declare(namespaced), namespaced, declared: value }),
      ...(at === 0 && description !== '' && { description: introduce(description, tool.description) }),
    };
    return { tool: isFound === true ? markFound(placed) : placed, path: memberPath };
  });
}

function introduce(description: string, own: string | undefined): string {
  return own === undefined || own === '' ? description : `${description}\n\n${own}`;
}

/** A hidden namespace hides its functions. */
function withDeferral(member: JsonObject, namespace: JsonObject): JsonObject {
  const { defer_loading: deferred } = namespace;
  return deferred === true && member['defer_loading'] === undefined ? { ...member, defer_loading: true } : member;
}

/** What has been found is not hidden any more. */
function markFound(tool: Tool): Tool {
  if (tool.type !== 'function') return tool;
  const { extra, ...shown } = tool;
  const { defer_loading: _hidden, ...fields } = extra?.fields ?? {};
  return { ...shown, isFound: true, ...asExtra('responses', Object.keys(fields).length === 0 ? undefined : fields) };
}

/** Of two tools with one name the last counts, in the place of the first. */
function withoutDuplicates(declared: readonly Declared[], warn: Warn): readonly Tool[] {
  const places = new Map<string, number>();
  const tools: Tool[] = [];
  for (const { tool, path } of declared) {
    const at = tool.type === 'function' ? places.get(tool.name) : undefined;
    const earlier = at === undefined ? undefined : tools[at];
    if (tool.type !== 'function' || at === undefined || earlier?.type !== 'function') {
      if (tool.type === 'function') places.set(tool.name, tools.length);
      tools.push(tool);
      continue;
    }
    if (earlier.kind !== tool.kind)
      throw invalid(`${path}.name`, `must differ from that of the ${nameOfKind(earlier)} ${nameOf(tool.name)}`);
    warn('field-changed', path, 'has the name of an earlier tool, which it replaces');
    tools[at] = tool;
  }
  return tools;
}

function nameOfKind({ kind }: FunctionTool): string {
  return kind === undefined ? 'function' : `${kind} tool`;
}
