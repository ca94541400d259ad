import { invalid } from '../canonical/gateway-error.ts';
import type { FunctionTool, GenerationRequest, ServerTool as AskedTool, ToolChoice } from '../canonical/request.ts';
import { functionNameOf } from '../canonical/server-call.ts';
import type { Endpoint } from '../catalog/model.ts';
import { drawArguments, type ArgumentsSchema, type ServerTool } from '../tools/contract.ts';
import { checkShape } from '../wire/gateway/issues.ts';
import { notBuilt } from './not-built-yet.ts';
import { replaceVendorTools } from './vendor-tools.ts';

/** Server tools of a request, with functions in their place: nobody from here on knows the difference. */
export interface OfferedTools {
  /** As models see it. */
  readonly request: GenerationRequest;
  /** As the caller sees it. */
  readonly asked: GenerationRequest;
  readonly entries: readonly OfferedTool[];
  /** Functions of the caller's that no turn shows before a search has found them, by name. */
  readonly hidden: ReadonlyMap<string, FunctionTool>;
}

/** One entry of `tools` as it is offered. */
export interface OfferedTool {
  readonly tool: ServerTool;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** In `tools`. */
  readonly index: number;
  /** Of the function. */
  readonly name: string;
  readonly arguments: ArgumentsSchema;
}

export interface OfferParts {
  /** Those that are built, by their type. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
}

/**
 * Puts functions in the place of server tools. `undefined`, at once, for a request without any.
 * @param endpointsOf those of the models that are asked for; asked only where that counts
 * @throws GatewayError 400 for parameters that a tool does not take, and for names that meet
 * @source generation.md 5.2 item 1
 */
export function offerServerTools(
  { serverTools }: OfferParts,
  given: GenerationRequest,
  endpointsOf: () => readonly Endpoint[],
): OfferedTools | undefined {
  const asked = replaceVendorTools(given, serverTools, endpointsOf);
  if (!asked.tools.some(({ type }) => type === 'server')) return undefined;
  const { maxToolCalls, stopServerToolsWhen } = asked.directives;
  // Nothing could be called. generation.md 5.2 item 3
  if (maxToolCalls === 0 && stopServerToolsWhen === undefined)
    return { request: withoutServerTools(asked), asked, entries: [], hidden: new Map() };
  const entries: OfferedTool[] = [];
  const functions = new Map<number, FunctionTool>();
  for (const entry of readEntries(serverTools, asked)) {
    const { tool, parameters, index } = entry;
    const client = tool.clientFunction?.(parameters, `tools[${index}].parameters`);
    const { name, description, arguments: schema } = client ?? { name: entry.name, ...tool.describe(parameters) };
    refuseSameName(asked.tools, name);
    if (client === undefined) entries.push({ ...entry, arguments: schema });
    functions.set(index, { type: 'function', name, description, parameters: drawArguments(schema) });
  }
  const hides = entries.some(({ tool }) => tool.findsHiddenTools === true);
  const hidden = new Map<string, FunctionTool>();
  const tools = asked.tools.flatMap((tool, index) => {
    const offered = functions.get(index) ?? tool;
    if (!hides || offered.type !== 'function' || !isDeferred(offered)) return [offered];
    hidden.set(offered.name, withoutMark(offered));
    return [];
  });
  const toolChoice = lowerChoice(asked, entries);
  const { toolChoice: _choice, ...settings } = asked.settings;
  const request = { ...asked, tools, settings: { ...settings, ...(toolChoice !== undefined && { toolChoice }) } };
  return { request, asked, entries, hidden };
}

type Entry = Omit<OfferedTool, 'arguments'>;

function readEntries(serverTools: OfferParts['serverTools'], { tools }: GenerationRequest): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [index, asked] of tools.entries()) {
    if (asked.type !== 'server') continue;
    const tool = serverTools.get(asked.name);
    if (tool === undefined) throw notBuilt(`tools[${index}].type`, `the server tool ${JSON.stringify(asked.name)}`);
    const ordinal = entries.filter((entry) => entry.tool === tool).length;
    if (ordinal > 0 && tool.mayRepeat !== true) throw invalid(`tools[${index}].type`, 'is the type of an earlier tool');
    const name = functionNameOf(asked.name, ordinal);
    entries.push({ tool, parameters: readParameters(tool, asked, index), index, name });
  }
  for (const tool of new Set(entries.map((entry) => entry.tool)))
    tool.checkTogether?.(
      entries
        .filter((entry) => entry.tool === tool)
        .map(({ index, parameters }) => ({ path: `tools[${index}].parameters`, parameters })),
    );
  return entries;
}

function readParameters(tool: ServerTool, { parameters }: AskedTool, index: number): Entry['parameters'] {
  return checkShape(tool.parameters, parameters ?? {}, { root: `tools[${index}].parameters` });
}

/** @source generation.md 5.2 item 1: the model could not tell the two apart */
function refuseSameName(tools: GenerationRequest['tools'], name: string): void {
  const at = tools.findIndex((tool) => tool.type === 'function' && tool.name === name);
  if (at >= 0) throw invalid(`tools[${at}]`, `must not be called ${JSON.stringify(name)}, like a server tool`);
}

/** What is the caller's own. */
function withoutServerTools(request: GenerationRequest): GenerationRequest {
  const tools = request.tools.filter(({ type }) => type !== 'server');
  const { toolChoice, ...settings } = request.settings;
  const keeps = toolChoice !== undefined && forcedType(toolChoice, request) === undefined && tools.length > 0;
  return { ...request, tools, settings: { ...settings, ...(keeps && { toolChoice }) } };
}

/**
 * A choice that names a server tool names its function; of several entries of a type the first one.
 * @throws GatewayError 400 for a server tool that is not among the tools
 * @source generation.md 2.2
 */
function lowerChoice(request: GenerationRequest, entries: readonly Entry[]): ToolChoice | undefined {
  const { toolChoice } = request.settings;
  const type = toolChoice === undefined ? undefined : forcedType(toolChoice, request);
  if (type === undefined) return toolChoice;
  const entry = entries.find(({ tool }) => tool.type === type);
  if (entry === undefined) throw invalid('tool_choice', `names ${type}, which is not one of the tools`);
  return { type: 'function', name: entry.name };
}

/** The server tool that a choice forces: `{type: "service:..."}` in chat, its type as a name in messages. */
function forcedType(choice: ToolChoice, { tools }: GenerationRequest): string | undefined {
  if (choice.type === 'function') {
    const isServer = tools.some((tool) => tool.type === 'server' && tool.name === choice.name);
    return isServer ? choice.name : undefined;
  }
  const type = choice.type === 'opaque' ? choice.value['type'] : undefined;
  return typeof type === 'string' && type.startsWith('service:') ? type : undefined;
}

/** @source generation.md 5.13 `defer_loading` */
function isDeferred({ extra }: FunctionTool): boolean {
  return extra?.fields['defer_loading'] === true;
}

/** The search is run here, so nobody upstream is to wait for one. */
function withoutMark(tool: FunctionTool): FunctionTool {
  const { extra, ...rest } = tool;
  if (extra === undefined) return rest;
  const { defer_loading: _deferred, ...fields } = extra.fields;
  return { ...rest, ...(Object.keys(fields).length > 0 && { extra: { ...extra, fields } }) };
}
