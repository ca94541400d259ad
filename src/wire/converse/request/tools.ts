import type { FunctionTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { pathOfFunction } from '../../gateway/source/source-paths.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import { isToolResult, isToolUse, type EncodeContext, type Message, type Piece } from './encode-context.ts';
import { lowerSchema } from './schema-lowering.ts';
import type { OutputTool } from '../../output-tool.ts';
import { objectAt, textOf } from '../../json-fields.ts';

/** How the model is to choose: by at most one of these. */
interface Choices {
  /** `toolConfig.toolChoice` */
  readonly toolChoice?: JsonObject;
  /** The choice of the messages format, where this format has no such choice. */
  readonly claudeChoice?: JsonObject;
}

export interface EncodedTools extends Choices {
  readonly tools: readonly Piece[];
  /** Names as sent, to the caller's names, where they differ. */
  readonly names: ReadonlyMap<string, string>;
  /** A sentence for the end of the system prompt. */
  readonly instruction?: string;
  /** A sentence for the end of the last user message: it holds for this response alone. */
  readonly ban?: string;
}

const NO_CALLS = 'Do not call any tool in this response.';
const STUB_DESCRIPTION = 'Was called earlier in this conversation and is not available any more.';
const STUB_SCHEMA: JsonObject = { type: 'object', properties: {} };

/**
 * The format has no choice of "no tool", and refuses calls in the conversation without any tool.
 * @throws GatewayError 400 for calls in the conversation with a model that takes no tools
 * @spec translate-18
 */
export function encodeTools(
  messages: readonly Message[],
  outputTool: OutputTool | undefined,
  context: EncodeContext,
): EncodedTools {
  const { toolChoice } = context.request.settings;
  const encoded = encodeToolList(context);
  const call = messages.flatMap(({ pieces }) => pieces).find((piece) => isToolUse(piece) || isToolResult(piece));
  const called = call !== undefined;
  // Stubs would be tools, too, and without any the calls are refused.
  if (called && context.facts.refusesTools === true)
    throw invalid(call.path, 'is about a tool, which the format of the model cannot express', 'invalid_prompt');
  const usable = encoded.tools.length > 0 && toolChoice?.type !== 'none';
  if (encoded.tools.length === 0 && toolChoice !== undefined && toolChoice.type !== 'none')
    context.warnings.add('field-dropped', 'tool_choice', 'there is no tool to choose');
  // Tools come first in the prompt: without them, nothing of it would be found in the cache.
  const kept = encoded.tools.length > 0 ? encoded.tools : called ? encodeStubs(messages) : [];
  const choices = usable ? encodeChoices(toolChoice, context) : {};
  const ban =
    usable || kept.length === 0 ? {} : encoded.tools.length > 0 ? { ban: NO_CALLS } : { instruction: NO_CALLS };
  if (outputTool === undefined) return { tools: kept, names: encoded.names, ...choices, ...ban };
  const tools = [...kept, encodeOutputTool(outputTool)];
  if (!outputTool.forced) return { tools, names: encoded.names, ...choices };
  return { tools, names: encoded.names, ...forceOutputTool(outputTool, usable, choices, context) };
}

/**
 * Forces a call of the tool that takes the response, or, where the caller offers tools of its own, of any tool: such a
 * caller wants a response in a format, and offers tools on the way to it.
 */
function forceOutputTool({ name }: OutputTool, beside: boolean, requested: Choices, { facts }: EncodeContext): Choices {
  const named = !beside && facts.forces?.includes('tool') !== false;
  const toolChoice: JsonObject = named ? { tool: { name } } : { any: {} };
  return requested.claudeChoice === undefined ? { toolChoice } : { claudeChoice: encodeClaudeChoice(toolChoice) };
}

function encodeOutputTool({ name, description, schema }: OutputTool): Piece {
  return {
    path: 'response_format',
    wire: { toolSpec: { name, description, inputSchema: { json: encodeSchema(schema) } } },
  };
}

function encodeToolList(context: EncodeContext): Pick<EncodedTools, 'tools' | 'names'> {
  const { request, facts, supports, warnings } = context;
  const names = new Map<string, string>();
  const tools: Piece[] = [];
  const offered = supports('tools') && facts.refusesTools !== true ? request.tools : [];
  if (offered.length < request.tools.length) warnings.add('field-dropped', 'tools', 'the model takes no tools');
  for (const [at, tool] of offered.entries()) {
    const piece = encodeTool(tool, `tools[${at}]`, context);
    if (piece === undefined) continue;
    tools.push(piece);
    const name = textOf(objectAt(piece.wire, 'toolSpec')['name']);
    if (tool.type === 'function' && name !== undefined && name !== tool.name) names.set(name, tool.name);
  }
  return { tools, names };
}

function encodeTool(tool: Tool, path: string, context: EncodeContext): Piece | undefined {
  switch (tool.type) {
    case 'function':
      return { path, cache: tool.cache, wire: { toolSpec: encodeSpec(tool, context) } };
    case 'server':
      context.warnings.add('field-dropped', path, `${tool.name} is run by the gateway and not known upstream`);
      return undefined;
    case 'opaque':
      context.warnings.add('field-dropped', path, 'only the vendor of this tool knows it');
      return undefined;
    default:
      return unreachable(tool);
  }
}

function encodeSpec(tool: FunctionTool, { request, facts, warnings }: EncodeContext): JsonObject {
  const strict = tool.strict === true && facts.strictTools === true;
  const home = pathOfFunction(request.format, request.tools.indexOf(tool));
  if (tool.strict === true && !strict)
    warnings.add('field-dropped', `${home}.strict`, 'the model does not bind calls to their schema');
  const described = tool.description !== undefined && tool.description.trim() !== '';
  const given = encodeSchema(tool.parameters);
  // What is refused in structured output is refused here, too, once it is to bind.
  const { schema, dropped } = strict ? lowerSchema(given) : { schema: given, dropped: new Set<string>() };
  if (dropped.size > 0)
    warnings.add('field-changed', `${home}.strict`, `the model is not bound to ${[...dropped].join(', ')}`);
  return {
    name: legalToolName(tool.name),
    ...(described && { description: tool.description }),
    inputSchema: { json: schema },
    ...(strict && { strict }),
  };
}

/** Unchanged where it has a type: members in another order would be another prefix to the cache. */
function encodeSchema(parameters: JsonObject | undefined): JsonObject {
  if (parameters === undefined) return STUB_SCHEMA;
  return parameters['type'] === undefined ? { type: 'object', ...parameters } : parameters;
}

/** In the order of the calls, so that a longer conversation begins with the same tools. */
function encodeStubs(messages: readonly Message[]): readonly Piece[] {
  const calls = messages.flatMap(({ pieces }) => pieces).map(({ wire }) => wire['toolUse']);
  const names = calls.filter(isJsonObject).map(({ name }) => textOf(name) ?? '');
  return [...new Set(names)].map((name) => ({
    path: 'tools',
    wire: { toolSpec: { name, description: STUB_DESCRIPTION, inputSchema: { json: STUB_SCHEMA } } },
  }));
}

/** The format's default is `auto`, so it need not be sent. */
function encodeChoices(requested: ToolChoice | undefined, context: EncodeContext): Choices {
  const { request, facts, supports, warnings } = context;
  const supported = requested === undefined || supports('tool_choice');
  if (!supported) warnings.add('field-dropped', 'tool_choice', 'the endpoint does not take it');
  const toolChoice = supported ? encodeChoice(requested, context) : undefined;
  if (request.settings.parallelToolCalls === false) {
    if (facts.claude === true && supports('parallel_tool_calls'))
      return { claudeChoice: encodeClaudeChoice(toolChoice) };
    warnings.add('field-dropped', 'parallel_tool_calls', 'the model cannot be kept to one call at a time');
  }
  return toolChoice === undefined ? {} : { toolChoice };
}

/**
 * The vendor's own member holds the choice and the number of calls, and is refused beside `toolConfig.toolChoice`.
 * @source github.com/BerriAI/litellm pull request 34347 and issue 36536, with the service's own messages, read 2026-11
 */
function encodeClaudeChoice(choice: JsonObject | undefined): JsonObject {
  const name = textOf(objectAt(choice ?? {}, 'tool')['name']);
  const type = name !== undefined ? 'tool' : choice === undefined ? 'auto' : 'any';
  return { type, ...(name !== undefined && { name }), disable_parallel_tool_use: true };
}

function encodeChoice(requested: ToolChoice | undefined, { facts, warnings }: EncodeContext): JsonObject | undefined {
  const forces = facts.forces ?? ['any', 'tool'];
  if (requested === undefined || requested.type === 'auto' || requested.type === 'none') return undefined;
  if (requested.type === 'opaque') {
    warnings.add('field-dropped', 'tool_choice', 'is not supported in this format');
    return undefined;
  }
  if (requested.type === 'function' && forces.includes('tool'))
    return { tool: { name: legalToolName(requested.name) } };
  if (!forces.includes('any')) {
    warnings.add('field-dropped', 'tool_choice', 'the model cannot be made to call a tool');
    return undefined;
  }
  if (requested.type === 'function')
    warnings.add('field-changed', 'tool_choice', 'the model can be made to call some tool, but not this one');
  return { any: {} };
}
