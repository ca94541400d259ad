import type { FunctionTool, GenerationRequest, Tool, ToolChoice } from '../../../canonical/request.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { allowedFlag, type BetaRules } from '../../beta-flags.ts';
import { encodeCacheControl } from './cache-control.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import type { OutputTool } from '../../output-tool.ts';
import { encodeNativeWebSearch } from './native-web-search.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';

/** Lets the vendor hold tools to their schema. @spec chat-26 */
const STRICT_BETA = 'structured-outputs-2025-11-13';

/** What the encoding of tools depends on. */
export interface ToolsContext {
  readonly request: GenerationRequest;
  readonly vendor: boolean;
  readonly supports: (parameter: string) => boolean;
  readonly betaRules: BetaRules | undefined;
  /** Stands beside the caller's own tools. */
  readonly outputTool: OutputTool | undefined;
  /** Gets the caller's path of each tool. */
  readonly sourcePaths: Map<WireObject, string>;
  readonly warnings: Warnings;
}

export interface EncodedTools {
  readonly tools: readonly WireObject[];
  readonly toolChoice: WireObject | undefined;
  /** Names as sent, to the caller's names, where they differ. */
  readonly names: ReadonlyMap<string, string>;
}

/** @spec messages-24, translate-18 */
export function encodeTools(context: ToolsContext): EncodedTools {
  const { request, vendor, supports, outputTool, sourcePaths, warnings } = context;
  const names = new Map<string, string>();
  const offered = supports('tools') ? request.tools : [];
  if (offered.length < request.tools.length) warnings.add('field-dropped', 'tools', 'the endpoint takes no tools');
  const tools: WireObject[] = [];
  for (const [at, tool] of offered.entries()) {
    const path = `tools[${at}]`;
    const encoded = encodeTool(tool, path, context);
    if (encoded === undefined) continue;
    sourcePaths.set(encoded, path);
    tools.push(encoded);
    const name = textOf(encoded['name']);
    if (tool.type === 'function' && name !== undefined && name !== tool.name) names.set(name, tool.name);
  }
  const search = encodeNativeWebSearch(request, vendor, warnings);
  if (search !== undefined) tools.push(search);
  // A choice among tools that are not there is refused; without any tools in the request the caller may mean it.
  const choosable = tools.length > 0 || (request.tools.length === 0 && request.format === 'messages');
  const toolChoice = encodeChoice(request, choosable, supports, warnings);
  if (outputTool === undefined) return { tools, toolChoice, names };
  const alone = tools.length === 0 || toolChoice?.['type'] === 'none';
  tools.push(encodeFunction({ type: 'function', ...outputTool, parameters: outputTool.schema }, '', context));
  return { tools, toolChoice: outputTool.forced ? forceOutputTool(outputTool, alone, toolChoice) : toolChoice, names };
}

/**
 * Forces a call of the tool that takes the response, or, where the caller offers tools of its own, of any tool: such a
 * caller wants a response in a format, and offers tools on the way to it. Parallel calls stay as the caller wants them; the
 * response alone is given once.
 */
function forceOutputTool({ name }: OutputTool, alone: boolean, requested: WireObject | undefined): WireObject {
  if (alone) return { type: 'tool', name, disable_parallel_tool_use: true };
  const { disable_parallel_tool_use: sequential } = requested ?? {};
  return { type: 'any', ...(sequential !== undefined && { disable_parallel_tool_use: sequential }) };
}

function encodeTool(tool: Tool, path: string, context: ToolsContext): WireObject | undefined {
  const { vendor, warnings } = context;
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, path, context);
    case 'server':
      warnings.add('field-dropped', path, `${tool.name} is run by the gateway and not known upstream`);
      return undefined;
    case 'opaque':
      if (tool.format === 'messages' && vendor) return { ...tool.value };
      warnings.add('field-dropped', path, 'only the vendor of this tool knows it');
      return undefined;
    default:
      return unreachable(tool);
  }
}

function encodeFunction(tool: FunctionTool, path: string, context: ToolsContext): WireObject {
  const { request, vendor, warnings } = context;
  const own = request.format === 'messages';
  const strict = tool.strict !== undefined && (own || mayBeStrict(context));
  if (tool.strict === true && !strict)
    warnings.add('field-dropped', `${path}.function.strict`, `needs the beta ${STRICT_BETA}`);
  return addExtra(
    {
      name: own ? tool.name : legalToolName(tool.name),
      ...(tool.description !== undefined && { description: tool.description }),
      input_schema: encodeSchema(tool.parameters),
      ...(strict && { strict: tool.strict ?? null }),
      // Without it the vendor holds back arguments until they are complete. @spec translate-18
      ...(!own && vendor && request.delivery === 'stream' && { eager_input_streaming: true }),
      ...encodeCacheControl(tool.cache),
    },
    tool.extra,
  );
}

/** The flag is the caller's to send (@spec chat-26), and the upstream's to take. */
function mayBeStrict({ request, vendor, betaRules }: ToolsContext): boolean {
  if (!vendor || !request.directives.betas.includes(STRICT_BETA)) return false;
  return betaRules === undefined || allowedFlag(STRICT_BETA, betaRules) !== undefined;
}

/** Unchanged where it has a type: members in another order would be another prefix to the vendor's cache. */
function encodeSchema(parameters: JsonObject | undefined): JsonObject {
  return parameters?.['type'] === undefined ? { type: 'object', ...parameters } : parameters;
}

function encodeChoice(
  request: GenerationRequest,
  choosable: boolean,
  supports: (parameter: string) => boolean,
  warnings: Warnings,
): WireObject | undefined {
  const { toolChoice } = request.settings;
  const own = request.format === 'messages';
  const parallelToolCalls = supports('parallel_tool_calls') ? request.settings.parallelToolCalls : undefined;
  if (parallelToolCalls !== request.settings.parallelToolCalls)
    warnings.add('field-dropped', 'parallel_tool_calls', 'the endpoint does not take it');
  if (toolChoice === undefined && parallelToolCalls !== false) return undefined;
  if (!choosable || (toolChoice !== undefined && !supports('tool_choice'))) {
    if (toolChoice !== undefined) warnings.add('field-dropped', 'tool_choice', 'there is no tool to choose');
    return undefined;
  }
  // A choice that this format cannot express leaves the default, which may still be limited to one call at a time.
  const encoded = encodeChoiceType(toolChoice ?? { type: 'auto' }, own, warnings);
  const choice =
    encoded ?? (parallelToolCalls === false ? encodeChoiceType({ type: 'auto' }, own, warnings) : undefined);
  if (choice === undefined || choice['type'] === 'none') return choice;
  if (parallelToolCalls === false || (own && parallelToolCalls === true))
    choice['disable_parallel_tool_use'] = !parallelToolCalls satisfies Json;
  return choice;
}

function encodeChoiceType(choice: ToolChoice, own: boolean, warnings: Warnings): WireObject | undefined {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'required':
      return { type: 'any' };
    case 'function':
      return { type: 'tool', name: own ? choice.name : legalToolName(choice.name) };
    case 'opaque':
      if (choice.format === 'messages') return { ...choice.value };
      warnings.add('field-dropped', 'tool_choice', 'is not supported in this format');
      return undefined;
    default:
      return unreachable(choice);
  }
}
