import type { FunctionTool, GenerationRequest, Tool, ToolChoice } from '../../canonical/request.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { drawCacheMark } from './cache-marks.ts';
import { warnOfExtra } from './draw-block.ts';
import { legalToolName } from '../gateway/legal-tool-name.ts';
import type { Warnings } from '../gateway/warnings.ts';
import { addExtra, stringOf } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/** Lets the vendor hold tools to their schema. @source generation.md 2.1 */
const STRICT_BETA = 'structured-outputs-2025-11-13';

export interface EncodedTools {
  readonly tools: readonly WireObject[];
  readonly toolChoice: WireObject | undefined;
  /** Names as sent, to the caller's names, where they differ. */
  readonly names: ReadonlyMap<string, string>;
}

/** @source generation.md 7.4, 7.5, 11.3 */
export function encodeTools(
  request: GenerationRequest,
  vendor: boolean,
  supports: (parameter: string) => boolean,
  warnings: Warnings,
): EncodedTools {
  const names = new Map<string, string>();
  const offered = supports('tools') ? request.tools : [];
  if (offered.length < request.tools.length) warnings.add('field-dropped', 'tools', 'the endpoint takes no tools');
  const tools: WireObject[] = [];
  for (const [at, tool] of offered.entries()) {
    const drawn = drawTool(tool, `tools[${at}]`, request, vendor, warnings);
    if (drawn === undefined) continue;
    tools.push(drawn);
    const name = stringOf(drawn['name']);
    if (tool.type === 'function' && name !== undefined && name !== tool.name) names.set(name, tool.name);
  }
  // A choice among tools that are not there is refused; without any tools in the request the caller may mean it.
  const choosable = tools.length > 0 || (request.tools.length === 0 && request.format === 'messages');
  return { tools, toolChoice: drawChoice(request, choosable, supports, warnings), names };
}

function drawTool(
  tool: Tool,
  path: string,
  request: GenerationRequest,
  vendor: boolean,
  warnings: Warnings,
): WireObject | undefined {
  switch (tool.type) {
    case 'function':
      return drawFunction(tool, path, request, vendor, warnings);
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

function drawFunction(
  tool: FunctionTool,
  path: string,
  request: GenerationRequest,
  vendor: boolean,
  warnings: Warnings,
): WireObject {
  const own = request.format === 'messages';
  const strict = tool.strict !== undefined && (own || (vendor && request.directives.betas.includes(STRICT_BETA)));
  if (tool.strict === true && !strict) warnings.add('field-dropped', `${path}.strict`, `needs the beta ${STRICT_BETA}`);
  warnOfExtra(tool.extra, path, warnings);
  return addExtra(
    {
      name: own ? tool.name : legalToolName(tool.name),
      ...(tool.description !== undefined && { description: tool.description }),
      input_schema: drawSchema(tool.parameters),
      ...(strict && { strict: tool.strict ?? null }),
      // Without it the vendor holds back arguments until they are complete. generation.md 11.3
      ...(!own && vendor && request.delivery === 'stream' && { eager_input_streaming: true }),
      ...drawCacheMark(tool.cache),
    },
    tool.extra,
  );
}

/** As it came where it says what it is: members in another order would be another prefix to the vendor's cache. */
function drawSchema(parameters: JsonObject | undefined): JsonObject {
  return parameters?.['type'] === undefined ? { type: 'object', ...parameters } : parameters;
}

function drawChoice(
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
  const choice = drawChoiceType(toolChoice ?? { type: 'auto' }, own, warnings);
  if (choice === undefined || choice['type'] === 'none') return choice;
  if (parallelToolCalls === false || (own && parallelToolCalls === true))
    choice['disable_parallel_tool_use'] = !parallelToolCalls satisfies Json;
  return choice;
}

function drawChoiceType(choice: ToolChoice, own: boolean, warnings: Warnings): WireObject | undefined {
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
      warnings.add('field-dropped', 'tool_choice', 'cannot be said in this format');
      return undefined;
    default:
      return unreachable(choice);
  }
}
