import type { ClientFormatId } from '../../../canonical/extra.ts';
import type { FunctionTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { nameOf, objectOf, objectsOf, textOf, withoutAbsent } from '../../json-fields.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import type { ResponsesDialect } from '../dialect.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeName, knowsKind } from './native-calls.ts';
import { encodeNativeWebSearch } from './native-web-search.ts';

/** What a function without parameters takes. @spec chat-23 */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

export interface EncodedTools {
  /** `tools`, `tool_choice`, `parallel_tool_calls`, as far as they are to be sent. */
  readonly members: JsonObject;
  /** Names as sent, to the caller's names, where they differ. */
  readonly names: ReadonlyMap<string, string>;
}

/** @spec chat-26, translate-18 */
export function encodeTools(context: EncodeContext): EncodedTools {
  const { request, target, warnings, supports } = context;
  const names = new Map<string, string>();
  const offered = supports('tools') ? request.tools : [];
  if (offered.length < request.tools.length) warnings.add('field-dropped', 'tools', 'the endpoint takes no tools');
  const tools: JsonObject[] = [];
  const grouped = new Set<JsonObject>();
  for (const [index, tool] of offered.entries()) {
    const declared = tool.type === 'function' ? declaredFor(tool, target.dialect) : undefined;
    if (declared !== undefined) {
      // Tools of one namespace share their entry, which stands where the first of them stood.
      if (!grouped.has(declared) && !isKnownFromResult(tool, target.dialect)) tools.push(declared);
      grouped.add(declared);
      continue;
    }
    const encoded = encodeTool(tool, `tools[${index}]`, context);
    if (encoded === undefined) continue;
    tools.push(encoded);
    const name = textOf(encoded['name']);
    if (tool.type === 'function' && name !== undefined && name !== tool.name) names.set(name, tool.name);
  }
  tools.push(...encodeOwnTools(context));
  if (tools.length === 0) {
    warnOfOptions(context);
    return { members: {}, names };
  }
  return { members: { tools, ...encodeOptions(tools, context) }, names };
}

/** The caller's own entry, for an upstream that knows more than functions. */
function declaredFor({ kind, namespaced, declared }: FunctionTool, dialect: ResponsesDialect): JsonObject | undefined {
  if (namespaced !== undefined) return dialect.namespaces === true ? declared : undefined;
  return kind !== undefined && knowsKind(kind, dialect) ? declared : undefined;
}

/** What a search of the caller's has found stands in the result of the search. */
function isKnownFromResult(tool: Tool, { toolSearchItems }: ResponsesDialect): boolean {
  return tool.type === 'function' && tool.isFound === true && toolSearchItems === true;
}

function encodeTool(tool: Tool, path: string, { request, target, warnings }: EncodeContext): JsonObject | undefined {
  switch (tool.type) {
    case 'function':
      return isKnownFromResult(tool, target.dialect) ? undefined : encodeFunction(tool, request.format);
    case 'server':
      warnings.add('field-dropped', path, `${tool.name} is run by the gateway and not known upstream`);
      return undefined;
    case 'opaque':
      if (tool.format === 'responses') return tool.value;
      warnings.add('field-dropped', path, `the provider's format has no tool ${nameOf(tool.value['type'])}`);
      return undefined;
    default:
      return unreachable(tool);
  }
}

/**
 * `strict` is always sent for callers of other formats: without it the upstream makes the schema strict, so that members which the caller left
 * optional must be there. developers.openai.com "Function calling", "Strict mode", quoted in 0xPlaygrounds/rig#2477
 * (2026-09).
 */
function encodeFunction(tool: FunctionTool, caller: ClientFormatId): JsonObject {
  const { name, description, parameters, strict } = tool;
  const own: JsonObject = {
    type: 'function',
    name: legalToolName(name),
    ...(description !== undefined && { description }),
    parameters: parameters ?? NO_PARAMETERS,
    // Callers of this format know what it means to leave it out.
    ...((strict !== undefined || caller !== 'responses') && { strict: strict ?? false }),
  };
  return withExtra(own, fieldsOf(tool, 'responses'));
}

/** Tools of the upstream's own, which other formats ask for by options. @spec chat-42 */
function encodeOwnTools(context: EncodeContext): readonly JsonObject[] {
  const { request, target, warnings, supports } = context;
  const { webSearchTool, imageTool } = target.dialect;
  const { webSearchOptions, nativeWebSearch, imageConfig, modalities } = request.settings;
  const tools: JsonObject[] = [];
  // The caller's own settings of the search win.
  if (nativeWebSearch !== undefined && webSearchOptions === undefined)
    tools.push(...encodeNativeWebSearch(nativeWebSearch, context));
  if (webSearchOptions !== undefined) {
    if (webSearchTool === true && supports('web_search_options')) tools.push(encodeWebSearch(webSearchOptions));
    else warnings.add('field-dropped', 'web_search_options', 'the endpoint has no search of its own');
  }
  const wantsImages = modalities?.includes('image') === true;
  if (wantsImages && imageTool === true) {
    tools.push({ type: 'image_generation', ...imageConfig });
    return tools;
  }
  if (wantsImages) warnings.add('field-dropped', 'modalities', 'the endpoint draws no pictures');
  if (imageConfig !== undefined) warnings.add('field-dropped', 'image_config', 'no picture is requested');
  return tools;
}

/** Chat puts the place below `approximate`, this format beside the type. */
function encodeWebSearch({ user_location: location, ...options }: JsonObject): JsonObject {
  const { approximate, ...place } = objectOf(location) ?? {};
  const flat = location === undefined ? {} : { user_location: { ...place, ...objectOf(approximate) } };
  return { type: 'web_search', ...options, ...flat };
}

function encodeOptions(
  tools: readonly JsonObject[],
  { request, target, warnings, supports }: EncodeContext,
): JsonObject {
  const { toolChoice, parallelToolCalls } = request.settings;
  const chosen = toolChoice !== undefined && supports('tool_choice');
  if (toolChoice !== undefined && !chosen)
    warnings.add('field-dropped', 'tool_choice', 'the endpoint does not support this parameter');
  const parallel = parallelToolCalls !== undefined && supports('parallel_tool_calls');
  if (parallelToolCalls !== undefined && !parallel)
    warnings.add('field-dropped', 'parallel_tool_calls', 'the endpoint does not support this parameter');
  const choice = chosen ? encodeChoice(toolChoice, tools, request.tools, target.dialect) : undefined;
  if (chosen && choice === undefined)
    warnings.add('field-dropped', 'tool_choice', 'what it names is not offered to the provider, or cannot be forced');
  return withoutAbsent({ tool_choice: choice, parallel_tool_calls: parallel ? parallelToolCalls : undefined });
}

/** Options about tools mean nothing, and are refused, where no tool is sent. */
function warnOfOptions({ request, warnings }: EncodeContext): void {
  const { toolChoice, parallelToolCalls } = request.settings;
  if (toolChoice !== undefined && toolChoice.type !== 'none')
    warnings.add('field-dropped', 'tool_choice', 'there is no tool to choose');
  if (parallelToolCalls !== undefined) warnings.add('field-dropped', 'parallel_tool_calls', 'there is no tool to call');
}

/** `undefined` for a choice of a tool that is not offered to the upstream, or cannot be forced. @spec chat-27, translate-18 */
function encodeChoice(
  choice: ToolChoice,
  tools: readonly JsonObject[],
  requested: readonly Tool[],
  dialect: ResponsesDialect,
): Json | undefined {
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type;
    case 'function':
      return encodeNamed(choice.name, tools, requested, dialect);
    case 'opaque':
      if (choice.value['type'] === 'allowed_tools') return encodeAllowed(choice.value, tools, requested, dialect);
      return choice.format === 'responses' && dialect.forcesOwnTools === true ? choice.value : undefined;
    default:
      return unreachable(choice);
  }
}

function encodeNamed(
  name: string,
  tools: readonly JsonObject[],
  requested: readonly Tool[],
  dialect: ResponsesDialect,
): JsonObject | undefined {
  const tool = requested.find((one): one is FunctionTool => one.type === 'function' && one.name === name);
  const declared = tool && declaredFor(tool, dialect);
  if (tool !== undefined && declared !== undefined && tools.includes(declared)) return encodeDeclared(tool, dialect);
  const sent = legalToolName(name);
  return tools.some((one) => one['name'] === sent) ? { type: 'function', name: sent } : undefined;
}

/** A choice of a tool that is sent as its caller declared it. */
function encodeDeclared(tool: FunctionTool, dialect: ResponsesDialect): JsonObject {
  if (tool.kind !== undefined && tool.kind !== 'custom') return { type: tool.kind };
  return { type: tool.kind ?? 'function', ...encodeName(tool, dialect) };
}

/** Chat nests the list, and each function in it; this format does not. */
function encodeAllowed(
  { allowed_tools: nested, ...flat }: JsonObject,
  tools: readonly JsonObject[],
  requested: readonly Tool[],
  dialect: ResponsesDialect,
): Json | undefined {
  const { mode, tools: listed } = isJsonObject(nested) ? nested : flat;
  const allowed = objectsOf(listed).flatMap((entry): readonly JsonObject[] => {
    const name = textOf(objectOf(entry['function'])?.['name']) ?? textOf(entry['name']);
    // A tool without a name stands there as its caller wrote it.
    if (name === undefined) return tools.some(({ type }) => type === entry['type']) ? [entry] : [];
    const encoded = encodeNamed(name, tools, requested, dialect);
    return encoded === undefined ? [] : [encoded];
  });
  return allowed.length === 0 ? undefined : { type: 'allowed_tools', mode: mode ?? 'auto', tools: allowed };
}
