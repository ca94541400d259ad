import type { Warning } from '../../canonical/extra.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import type {
  FunctionTool,
  GenerationRequest,
  ServerTool as RequestedTool,
  ToolChoice,
} from '../../canonical/request.ts';
import { functionNameOf, MCP_FUNCTION_PREFIX, MCP_TYPE } from '../../canonical/tools/server-call.ts';
import type { Endpoint } from '../../catalog/model.ts';
import {
  formatArguments,
  isToolSet,
  type ArgumentsSchema,
  type RegisteredTool,
  type ServerTool,
  type ToolAbilities,
  type ToolSetListing,
  type ToolSetInput,
} from '../../tools/contract.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { checkNestedTools } from './check-nested-tools.ts';
import type { RequestFacts } from '../request.ts';
import { replaceNativeTools, type ReplacedTools } from './emulate-native-tools.ts';
import { missingTool } from './missing-tool.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';

/** Server tools of a request, with functions in their place: no later step knows the difference. */
export interface OfferedTools {
  /** As models see it. */
  readonly request: GenerationRequest;
  /** As the caller sees it. */
  readonly originalRequest: GenerationRequest;
  readonly entries: readonly OfferedTool[];
  /** Functions of the caller's that no turn shows before a search has found them, by name. */
  readonly hidden: ReadonlyMap<string, FunctionTool>;
  /** Tools of the request that the model does not get. */
  readonly warnings: readonly Warning[];
}

/** One function: an entry of `tools` as it is offered, or one of several tools that an entry comes to. */
export interface OfferedTool {
  readonly tool: ServerTool;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** In `tools`. */
  readonly index: number;
  /** Of the function. */
  readonly name: string;
  readonly arguments: ArgumentsSchema;
  /** The caller's entry, where it is a vendor's search of the responses format. */
  readonly vendors?: JsonObject;
  /** Only an endpoint can make it by itself: elsewhere it is left out. */
  readonly onlyNative?: true;
}

export interface OfferDeps {
  /** Those that are built, by their type. */
  readonly serverTools: ReadonlyMap<string, RegisteredTool>;
  readonly toolAbilities: ToolAbilities;
}

export interface OfferInput extends Pick<ToolSetInput, 'principal'> {
  readonly cancellation: SignalSource;
  /** The endpoints of the request's models; called only where they count. */
  readonly endpointsOf: () => readonly Endpoint[];
}

/**
 * Replaces server tools by functions. Returns `undefined` at once for a request without server tools.
 * @throws GatewayError 400 for parameters that a tool does not take, and for equal names; 403 for a tool that the caller
 * may not use
 * @spec tool-4
 */
export function offerServerTools(
  deps: OfferDeps,
  given: GenerationRequest,
  { endpointsOf, principal, cancellation }: OfferInput,
): Promise<OfferedTools> | undefined {
  if (given.tools.length === 0) return undefined;
  const replaced = replaceNativeTools(given, deps.serverTools, endpointsOf);
  // An entry may have been left out, and with it the last one that no function stands for.
  return replaced.request !== given || given.tools.some(({ type }) => type === 'server')
    ? offer(deps, replaced, { principal, signal: cancellation.signal })
    : undefined;
}

async function offer(
  deps: OfferDeps,
  { request: originalRequest, warnings: leftOut }: ReplacedTools,
  input: Pick<ToolSetInput, 'principal' | 'signal'>,
): Promise<OfferedTools> {
  const { serverTools } = deps;
  const { maxToolCalls, stopServerToolsWhen } = originalRequest.directives;
  // Nothing could be called. @spec tool-14
  if (maxToolCalls === 0 && stopServerToolsWhen === undefined)
    return {
      request: withoutServerTools(originalRequest),
      originalRequest,
      entries: [],
      hidden: new Map(),
      warnings: leftOut,
    };
  const { singles, warnings } = await listTools(deps, parseEntries(serverTools, originalRequest), input);
  const entries: OfferedTool[] = [];
  const functions = new Map<number, FunctionTool[]>();
  for (const single of singles) {
    const { tool, parameters, index } = single;
    const client = tool.clientFunction?.(parameters, pathOf(index));
    const { name, description, arguments: schema } = client ?? { name: single.name, ...tool.describe(parameters) };
    refuseSameName(originalRequest.tools, name);
    if (client === undefined)
      entries.push({ ...single, arguments: schema, ...vendorsSearch(originalRequest, index, deps) });
    const serialized: FunctionTool = {
      type: 'function',
      name,
      description,
      parameters: formatArguments(schema),
      ...(tool.searchesNatively?.(parameters) === true && { standsForSearch: true }),
    };
    functions.set(index, [...(functions.get(index) ?? []), serialized]);
  }
  const hides = entries.some(({ tool }) => tool.findsHiddenTools === true);
  const hidden = new Map<string, FunctionTool>();
  const tools = originalRequest.tools.flatMap((tool, index) => {
    if (tool.type === 'server') return functions.get(index) ?? [];
    if (!hides || tool.type !== 'function' || !isDeferred(tool)) return [tool];
    hidden.set(tool.name, withoutMark(tool));
    return [];
  });
  const isChoiceRemoved = namesRemovedFunction(originalRequest, entries);
  const toolChoice = isChoiceRemoved ? undefined : lowerChoice(originalRequest, entries);
  const { toolChoice: _choice, ...settings } = originalRequest.settings;
  const request = {
    ...originalRequest,
    tools,
    settings: { ...settings, ...(toolChoice !== undefined && { toolChoice }) },
  };
  return {
    request,
    originalRequest,
    entries,
    hidden,
    warnings: [...leftOut, ...warnings, ...entries.flatMap(warnOfSearch), ...(isChoiceRemoved ? [CHOICE_REMOVED] : [])],
  };
}

const CHOICE_REMOVED: Warning = {
  code: 'field-dropped',
  path: 'tool_choice',
  message: 'names a function that no MCP server of the request offers now',
};

/** What functions MCP servers have was not known when the choice was read. */
function namesRemovedFunction(
  { settings: { toolChoice }, tools }: GenerationRequest,
  entries: readonly Single[],
): boolean {
  if (toolChoice?.type !== 'function' || !toolChoice.name.startsWith(MCP_FUNCTION_PREFIX)) return false;
  if (!tools.some((tool) => tool.type === 'server' && tool.name === MCP_TYPE)) return false;
  const { name } = toolChoice;
  return (
    !entries.some((entry) => entry.name === name) &&
    !tools.some((tool) => tool.type === 'function' && tool.name === name)
  );
}

/** What comes of an entry, but for what the model reads of it. */
type Single = Omit<OfferedTool, 'arguments'>;

/** An entry of `tools`, which may come to several. */
type Entry = Omit<Single, 'tool'> & { readonly tool: RegisteredTool };

/** Each entry as what it comes to: nearly always itself. All sets are listed at once. */
async function listTools(
  { toolAbilities: abilities }: OfferDeps,
  entries: readonly Entry[],
  input: Pick<ToolSetInput, 'principal' | 'signal'>,
): Promise<{ readonly singles: readonly Single[]; readonly warnings: readonly Warning[] }> {
  const list = ({ tool, parameters, index, name }: Entry): ToolSetListing | Promise<ToolSetListing> =>
    isToolSet(tool)
      ? tool.list(parameters, { ...input, abilities, path: pathOf(index) })
      : { tools: [{ name, tool }], warnings: [] };
  const listings = await Promise.all(entries.map(async (entry) => ({ entry, listing: await list(entry) })));
  return {
    singles: listings.flatMap(({ entry, listing }) => listing.tools.map((single) => ({ ...entry, ...single }))),
    warnings: listings.flatMap(({ listing }) => listing.warnings),
  };
}

function warnOfSearch({ onlyNative, index }: OfferedTool): readonly Warning[] {
  const message = 'left out where the endpoint does not search by itself: nothing else here does';
  return onlyNative === true ? [{ code: 'field-dropped', path: `tools[${index}]`, message }] : [];
}

const WEB_SEARCH = 'service:web_search';

/** A vendor's search that the gateway has no engine for, or whose results only the vendor has, is an offer and no demand. */
function vendorsSearch(
  { tools }: GenerationRequest,
  index: number,
  { toolAbilities }: OfferDeps,
): Pick<OfferedTool, 'vendors' | 'onlyNative'> {
  const requested = tools[index];
  const extra = requested?.type === 'server' && requested.name === WEB_SEARCH ? requested.extra : undefined;
  const type = extra?.format === 'responses' ? extra.fields['type'] : undefined;
  if (extra === undefined || type === undefined) return {};
  const isVendorsAlone = toolAbilities.search === undefined || extra.fields['external_web_access'] === false;
  return { vendors: extra.fields, ...(isVendorsAlone && { onlyNative: true }) };
}

function pathOf(index: number): string {
  return `tools[${index}].parameters`;
}

function parseEntries(serverTools: OfferDeps['serverTools'], { tools }: GenerationRequest): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [index, requested] of tools.entries()) {
    if (requested.type !== 'server') continue;
    const tool = serverTools.get(requested.name);
    if (tool === undefined) throw missingTool(`tools[${index}].type`, requested.name);
    const ordinal = entries.filter((entry) => entry.tool === tool).length;
    if (ordinal > 0 && !isToolSet(tool) && tool.mayRepeat !== true)
      throw invalid(`tools[${index}].type`, 'is the type of an earlier tool');
    const name = functionNameOf(requested.name, ordinal);
    entries.push({ tool, parameters: parseParameters(tool, requested, index), index, name });
  }
  for (const { tool, parameters, index } of entries) checkNestedTools(serverTools, tool, parameters, pathOf(index));
  for (const tool of new Set(entries.map((entry) => entry.tool)))
    tool.checkTogether?.(
      entries
        .filter((entry) => entry.tool === tool)
        .map(({ index, parameters }) => ({ path: pathOf(index), parameters })),
    );
  return entries;
}

function parseParameters(tool: RegisteredTool, { parameters }: RequestedTool, index: number): Entry['parameters'] {
  return checkShape(tool.parameters, parameters ?? {}, { root: pathOf(index) });
}

/** @spec tool-4: the model could not tell the two apart */
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
 * A choice that names a server tool names its function; of several entries of a type the first one. Of a set any of its
 * tools will do, which no format can say but as: some tool.
 * @throws GatewayError 400 for a server tool that is not among the tools
 * @spec chat-27
 */
function lowerChoice(request: GenerationRequest, entries: readonly Single[]): ToolChoice | undefined {
  const { toolChoice } = request.settings;
  const type = toolChoice === undefined ? undefined : forcedType(toolChoice, request);
  if (type === undefined) return toolChoice;
  const [first, ...others] = entries.filter(({ tool }) => tool.type === type);
  if (first === undefined) throw invalid('tool_choice', `names ${type}, which is not one of the tools`);
  if (others.some(({ index }) => index === first.index)) return { type: 'required' };
  return { type: 'function', name: first.name };
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

/** @spec tool-40 */
function isDeferred({ extra }: FunctionTool): boolean {
  return extra?.fields['defer_loading'] === true;
}

/** The search runs in the gateway, so the upstream must not wait for one. */
function withoutMark(tool: FunctionTool): FunctionTool {
  const { extra, ...rest } = tool;
  if (extra === undefined) return rest;
  const { defer_loading: _deferred, ...fields } = extra.fields;
  return { ...rest, ...(Object.keys(fields).length > 0 && { extra: { ...extra, fields } }) };
}

/** The caller's request names tools that the model cannot call: log and metadata say so. */
export function noteMissingTools(
  { warnings }: OfferedTools,
  { log, report }: Pick<RequestFacts, 'log' | 'report'>,
): void {
  if (warnings.length === 0) return;
  log.warn(warnings);
  const missing = warnings.map(({ path, message }) => ({ path, reason: message }));
  report.pipeline.push({
    type: 'server_tools',
    name: 'tools-left-out',
    summary: missing.map(({ path, reason }) => `${path}: ${reason}`).join(' '),
    data: { left_out: missing },
  });
}
