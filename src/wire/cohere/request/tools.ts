import type { FunctionTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { itemsOf } from '../../json-fields.ts';
import { pathOfFunction } from '../../gateway/source/source-paths.ts';
import type { EncodeContext } from './encode-context.ts';
import { toolNameOf } from './tool-names.ts';

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };
const TOOL_BAN = 'Do not call any tool now. Answer directly.';

export interface EncodedTools {
  readonly tools: readonly JsonObject[];
  readonly toolChoice?: 'REQUIRED' | 'NONE';
  readonly strict: boolean;
  /** A sentence for the system prompt, where the format does not have the choice. */
  readonly instruction?: string;
  /** Names as sent, to the caller's own, where they differ. */
  readonly names: ReadonlyMap<string, string>;
}

/** @source docs.cohere.com "Chat", "Structured Outputs"; types of the vendor's SDK (2026-08) */
export function encodeTools(context: EncodeContext): EncodedTools {
  const { request, warnings, supports } = context;
  if (request.tools.length > 0 && !supports('tools')) {
    warnings.add('field-dropped', 'tools', 'the endpoint takes no tools');
    return { tools: [], strict: false, names: new Map() };
  }
  if (request.settings.parallelToolCalls === false)
    warnings.add('field-dropped', 'parallel_tool_calls', 'is not supported in this format');
  const functions = request.tools.flatMap((tool, at) => keepFunction(tool, `tools[${at}]`, context));
  const choice = chooseTools(functions, request.settings.toolChoice, context);
  const names = new Map<string, string>();
  for (const { name } of choice.offered) if (toolNameOf(name) !== name) names.set(toolNameOf(name), name);
  const { offered, ...words } = choice;
  return { tools: offered.map(encodeFunction), strict: isStrict(offered, context), ...words, names };
}

function keepFunction(tool: Tool, path: string, { warnings }: EncodeContext): readonly FunctionTool[] {
  switch (tool.type) {
    case 'function':
      return [tool];
    case 'server':
      warnings.add('field-dropped', path, `${tool.name} is run by the gateway and not known upstream`);
      return [];
    case 'opaque':
      warnings.add('field-dropped', path, 'only the vendor of this tool knows it');
      return [];
    default:
      return unreachable(tool);
  }
}

function encodeFunction({ name, description, parameters }: FunctionTool): JsonObject {
  const definition = {
    name: toolNameOf(name),
    ...(description !== undefined && { description }),
    parameters: parameters === undefined || Object.keys(parameters).length === 0 ? NO_PARAMETERS : parameters,
  };
  return { type: 'function', function: definition };
}

/** One switch for all tools, and only for tools with a required parameter. @source docs.cohere.com "Structured Outputs" */
function isStrict(tools: readonly FunctionTool[], { request, warnings }: EncodeContext): boolean {
  const strict = tools.filter((tool) => tool.strict === true);
  if (strict.length === 0) return false;
  if (tools.every((tool) => tool.strict === true && itemsOf(tool.parameters?.['required']).length > 0)) return true;
  for (const tool of strict) {
    const path = `${pathOfFunction(request.format, request.tools.indexOf(tool))}.strict`;
    warnings.add('field-dropped', path, 'needs a required parameter of every tool, and all tools to be strict');
  }
  return false;
}

type Choice = Pick<EncodedTools, 'toolChoice' | 'instruction'> & { readonly offered: readonly FunctionTool[] };

/**
 * The format knows only whether tools must be called, not which one, so of a named one no other is offered.
 */
function chooseTools(tools: readonly FunctionTool[], choice: ToolChoice | undefined, context: EncodeContext): Choice {
  const { target, warnings, supports } = context;
  if (choice === undefined || choice.type === 'auto') return { offered: tools };
  if (choice.type === 'opaque') {
    warnings.add('field-dropped', 'tool_choice', 'is not supported in this format');
    return { offered: tools };
  }
  const forces = target.dialect.forcesTools === true && supports('tool_choice');
  if (choice.type === 'none') return tools.length === 0 ? { offered: [] } : forbidTools(tools, forces, context);
  const offered = choice.type === 'function' ? tools.filter(({ name }) => name === choice.name) : tools;
  if (offered.length === 0) {
    warnings.add('field-dropped', 'tool_choice', 'there is no tool to choose');
    return { offered: tools };
  }
  if (offered.length < tools.length) warnings.add('field-changed', 'tools', 'only the chosen tool is offered');
  if (forces) return { offered, toolChoice: 'REQUIRED' };
  warnings.add('field-dropped', 'tool_choice', 'the model cannot be forced to call a tool');
  return { offered };
}

/** Where earlier turns called tools, they stay, so that the model understands those turns. */
function forbidTools(tools: readonly FunctionTool[], forces: boolean, { request, warnings }: EncodeContext): Choice {
  if (forces) return { offered: tools, toolChoice: 'NONE' };
  const called = request.turns.some(({ blocks }) => blocks.some(({ type }) => type === 'tool-call'));
  warnings.add(
    'field-changed',
    'tool_choice',
    called ? 'the prompt forbids tool calls, which does not bind the model' : 'the tools are not offered',
  );
  return called ? { offered: tools, instruction: TOOL_BAN } : { offered: [] };
}
