import type { FunctionTool, ToolChoice } from '../../../canonical/request.ts';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { nameOf, objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { pathOfFunction } from '../../gateway/source/source-paths.ts';
import type { EncodeContext } from './encode-context.ts';
import { prepareJsonSchema } from './json-schema.ts';
import { createBudget, type SchemaBudget } from './schema-budget.ts';
import { lowerSchema } from './schema-lowering.ts';
import { geminiToolName } from './tool-names.ts';

export interface EncodedTools {
  /** Members of the body: `tools`, `toolConfig`. */
  readonly members: JsonObject;
  readonly offered: boolean;
  /** Names as sent, to the caller's names, where they differ. */
  readonly names: ReadonlyMap<string, string>;
}

/** @spec translate-18 */
export function encodeTools(context: EncodeContext): EncodedTools {
  const { request } = context;
  const names = new Map<string, string>();
  if (request.tools.length > 0 && (!context.supports('tools') || context.facts.refusesTools === true)) {
    context.warn('field-dropped', 'tools', 'the endpoint takes no tools');
    return {
      members: encodeNativeWebSearch(false, context) ? { tools: [{ googleSearch: {} }] } : {},
      offered: false,
      names,
    };
  }
  const declarations: JsonObject[] = [];
  const budget = createBudget();
  let strict = false;
  for (const [at, tool] of request.tools.entries()) {
    const path = `tools[${at}]`;
    if (tool.type !== 'function') {
      const what = tool.type === 'server' ? tool.name : nameOf(tool.value['type']);
      context.warn('field-dropped', path, `the provider's format has no tool ${what}`);
      continue;
    }
    const name = geminiToolName(tool.name);
    if (name !== tool.name) names.set(name, tool.name);
    declarations.push(declare(tool, name, budget, context));
    strict ||= isStrict(tool, pathOfFunction(request.format, at), context);
  }
  const offered = declarations.length > 0;
  const searches = encodeNativeWebSearch(offered, context);
  const config = encodeChoice(offered, strict, context);
  return {
    members: {
      ...(offered && { tools: [{ functionDeclarations: declarations }] }),
      ...(searches && { tools: [{ googleSearch: {} }] }),
      ...(config !== undefined && { toolConfig: { functionCallingConfig: config } }),
    },
    offered,
    names,
  };
}

/** Whether the model searches by itself. It has no settings for sites, nor for the number of searches. @spec web-7, web-8 */
function encodeNativeWebSearch(besideFunctions: boolean, { request, facts, warn }: EncodeContext): boolean {
  const { nativeWebSearch } = request.settings;
  if (nativeWebSearch === undefined) return false;
  const drop = (what: string): void => warn('field-dropped', 'plugins', `web: the endpoint ${what}`);
  const { includeSites = [], excludeSites = [], posts } = nativeWebSearch;
  if (facts.searchTool !== true) drop('has no search of its own');
  // Both together are a preview that shows its calls. ai.google.dev "Combine built-in tools and function calling", read 2026-11
  else if (besideFunctions) drop('does not search beside functions');
  else {
    if (includeSites.length + excludeSites.length > 0) drop('has no setting for sites');
    if (posts !== undefined) drop('does not search posts');
    return true;
  }
  return false;
}

function declare(tool: FunctionTool, name: string, budget: SchemaBudget, context: EncodeContext): JsonObject {
  return {
    name,
    ...(tool.description !== undefined && { description: tool.description }),
    ...encodeParameters(tool.parameters, budget, context),
  };
}

/** "For function with no parameters, this can be left unset": an object without properties was refused. @spec translate-20 */
function encodeParameters(
  parameters: JsonObject | undefined,
  budget: SchemaBudget,
  { facts }: EncodeContext,
): JsonObject {
  if (parameters === undefined || !hasProperties(parameters)) return {};
  const schema = parameters['type'] === undefined ? { type: 'object', ...parameters } : parameters;
  return facts.jsonSchema === true
    ? { parametersJsonSchema: prepareJsonSchema(schema, budget) }
    : { parameters: lowerSchema(schema, budget) };
}

function hasProperties({ properties, type, ...rest }: JsonObject): boolean {
  if (isJsonObject(properties)) return Object.keys(properties).length > 0;
  const states = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'].some(
    (keyword) => rest[keyword] !== undefined,
  );
  return states || isJsonObject(rest['additionalProperties']) || (type !== undefined && type !== 'object');
}

function isStrict({ strict }: FunctionTool, path: string, context: EncodeContext): boolean {
  if (strict !== true) return false;
  if (context.facts.validatedCalls === true) return true;
  context.warn('field-dropped', `${path}.strict`, 'the model cannot be bound to a schema');
  return false;
}

/** `functionCallingConfig`; what is strict holds for all tools there. @spec translate-18 */
function encodeChoice(offered: boolean, strict: boolean, context: EncodeContext): JsonObject | undefined {
  const { toolChoice } = context.request.settings;
  const free = strict ? 'VALIDATED' : 'AUTO';
  if (!offered) {
    if (toolChoice !== undefined && toolChoice.type !== 'auto' && toolChoice.type !== 'none')
      context.warn('field-dropped', 'tool_choice', 'there is no tool to choose');
    return undefined;
  }
  if (toolChoice === undefined) return strict ? { mode: free } : undefined;
  if (!context.supports('tool_choice')) {
    context.warn('field-dropped', 'tool_choice', 'the endpoint does not take it');
    return strict ? { mode: free } : undefined;
  }
  return encodeToolChoice(toolChoice, free, context);
}

function encodeToolChoice(choice: ToolChoice, free: string, context: EncodeContext): JsonObject | undefined {
  switch (choice.type) {
    case 'auto':
      return { mode: free };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'function':
      return { mode: 'ANY', allowedFunctionNames: [geminiToolName(choice.name)] };
    case 'opaque':
      return encodeAllowedTools(choice.value, free, context);
    default:
      return unreachable(choice);
  }
}

/** `{type: "allowed_tools", allowed_tools: {mode, tools}}` of the chat format. @spec chat-27 */
function encodeAllowedTools(value: JsonObject, free: string, context: EncodeContext): JsonObject | undefined {
  const allowed = objectOf(value['allowed_tools']);
  const tools: Json | undefined = allowed?.['tools'];
  const names = objectsOf(tools).flatMap((tool) => textOf(objectOf(tool['function'])?.['name']) ?? []);
  if (value['type'] !== 'allowed_tools' || names.length === 0) {
    context.warn('field-dropped', 'tool_choice', "the provider's format has no word for this choice");
    return undefined;
  }
  const allowedFunctionNames = names.map(geminiToolName);
  if (allowed?.['mode'] === 'required') return { mode: 'ANY', allowedFunctionNames };
  // Only a model that is held to schemas can be held to some of its tools and still be free to speak.
  if (context.facts.validatedCalls === true) return { mode: 'VALIDATED', allowedFunctionNames };
  context.warn('field-dropped', 'tool_choice.allowed_tools', 'the model can only be forced to call one of some tools');
  return { mode: free };
}
