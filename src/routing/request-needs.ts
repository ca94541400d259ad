import type { Block, MediaBlock } from '../canonical/blocks.ts';
import type { FormatId } from '../canonical/extra.ts';
import type { GenerationRequest, Tool } from '../canonical/request.ts';
import { parameterOfFormat } from '../canonical/supports-parameter.ts';
import { isTextType } from '../canonical/text-type.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Considered } from './route-plan.ts';
import { usedParameters } from './parameters.ts';

/** The requirements of a request for an endpoint. */
export interface RequestNeeds {
  /** Words of the catalog's vocabulary without which the request must not be served. */
  readonly parameters: readonly string[];
  /** Kinds of media in the request, in the catalog's words. A document of text is none: its text is written out. */
  readonly inputs: ReadonlySet<string>;
  /** Requested output modalities. @spec chat-34 */
  readonly outputs: readonly string[];
  /** A tool, or a change of the tools on the way, is known only to the vendor of the messages format. */
  readonly nativeTools: boolean;
  /** A tool is known only to the vendor of the responses format. */
  readonly openTools: boolean;
  /** Functions are to be hidden until they are found, and nothing of the gateway's finds them. @spec tool-42 */
  readonly deferredTools: boolean;
  /** Features without which the answer is poorer: endpoints that have them are kept, where there are any. */
  readonly preferred: readonly string[];
  /** The longest answer that is wanted, in tokens. Absent: any. */
  readonly maxTokens: number | undefined;
  /** As requested. */
  readonly serviceTier: string | undefined;
  readonly hasTools: boolean;
  /** In which an endpoint would be called. */
  readonly formatOf: (endpoint: Endpoint) => FormatId;
  /** What an endpoint lacks that no list of modalities or parameters says. Absent: nothing. */
  readonly lackOf?: (endpoint: Endpoint) => Omit<Considered, 'endpoint'> | undefined;
  /** A count that no usual text falls below: what is over a context by it is over it by every tokenizer's. */
  readonly promptTokensMin: number;
}

/** The gateway's own search of tools. */
const TOOL_SEARCH = 'service:tool_search';

/** Prose has four to five characters a token, code fewer. An estimate must never refuse what the upstream would take. */
export const CHARS_PER_TOKEN_MAX = 6;

/** Blocks that offer or withdraw tools: an endpoint that ignores them would let the model call a withdrawn tool. @spec messages-25 */
const TOOL_CHANGES: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal']);

/** @param everyParameter whether an endpoint must accept all requested parameters, not only those that must not be ignored */
export function needsOf(request: GenerationRequest, everyParameter: boolean): RequestNeeds {
  const inputs = new Set<string>();
  let chars = 0;
  const hasTools = request.tools.length > 0;
  let nativeTools = hasTools && request.tools.some(isOfMessages);
  const look = (blocks: readonly Block[], media: boolean): void => {
    for (const block of blocks) {
      if (block.type === 'media') {
        if (media) addModalities(block, inputs);
      } else if (block.type === 'tool-result') look(block.content, media);
      else if (block.type === 'tool-call') chars += block.input.length;
      else if (block.type === 'text') chars += block.text.length;
      else if (block.type === 'opaque') nativeTools ||= TOOL_CHANGES.has(block.value['type']);
    }
  };
  for (const turn of request.turns) look(turn.blocks, turn.role !== 'assistant');
  return {
    parameters: everyParameter ? usedParameters(request) : bindingParameters(request),
    inputs,
    outputs: request.settings.modalities ?? [],
    nativeTools,
    openTools: hasTools && request.tools.some(isOfResponses),
    deferredTools: hasTools && request.tools.some(isDeferred) && !request.tools.some(findsDeferred),
    preferred: preferredParameters(request),
    maxTokens: request.settings.maxTokens,
    serviceTier: request.settings.serviceTier,
    hasTools,
    formatOf: (endpoint) => chooseFormat(endpoint, request),
    promptTokensMin: Math.floor(chars / CHARS_PER_TOKEN_MAX),
  };
}

function isOfMessages(tool: Tool): boolean {
  return tool.type === 'opaque' && tool.format === 'messages';
}

function isOfResponses(tool: Tool): boolean {
  return tool.type === 'opaque' && tool.format === 'responses';
}

function isDeferred(tool: Tool): boolean {
  return tool.type === 'function' && tool.extra?.fields['defer_loading'] === true;
}

/** Routers look for models before it has taken what it hides out of the request. */
function findsDeferred(tool: Tool): boolean {
  return tool.type === 'server' && tool.name === TOOL_SEARCH;
}

const KIND_OF_TYPE = /^(image|audio|video)\//;

/** Also a picture that came as a file is a picture. */
function addModalities({ media, source }: MediaBlock, inputs: Set<string>): void {
  if (media !== 'document') inputs.add(media);
  else if (source.type === 'blocks')
    for (const inner of source.blocks) {
      if (inner.type === 'media') addModalities(inner, inputs);
    }
  else if (source.type === 'base64') {
    const kind = KIND_OF_TYPE.exec(source.mediaType)?.[1];
    if (kind !== undefined || !isTextType(source.mediaType)) inputs.add(kind ?? 'file');
  } else if (source.type !== 'text') inputs.add('file');
}

/** A strict schema binds the answer, so that ignoring it is no service. @spec chat-36 */
function bindingParameters({ settings: { responseFormat } }: GenerationRequest): readonly string[] {
  return responseFormat?.type === 'json_schema' && responseFormat.strict === true ? ['structured_outputs'] : [];
}

/** The caller's own format where the endpoint speaks it, and takes all of the request in it: nothing is lost between equals. */
function chooseFormat(
  { formats, toolFormats, searchFormat }: Endpoint,
  { format, tools, settings }: GenerationRequest,
): FormatId {
  if (searchFormat !== undefined && (settings.nativeWebSearch !== undefined || tools.some(isSearch)))
    return searchFormat;
  const fit = tools.length > 0 && toolFormats !== undefined ? toolFormats : formats;
  return fit.includes(format) ? format : (fit[0] ?? format);
}

function isSearch(tool: GenerationRequest['tools'][number]): boolean {
  return tool.type === 'function' && tool.standsForSearch === true;
}

/** Words of the catalog's vocabulary for what an answer is poorer without. */
function preferredParameters({ tools, settings: { responseFormat, verbosity } }: GenerationRequest): readonly string[] {
  const form = responseFormat && parameterOfFormat(responseFormat);
  if (tools.length === 0 && form === undefined && verbosity === undefined) return NONE;
  return [
    ...(tools.length > 0 ? ['tools'] : []),
    ...(form === undefined ? [] : [form]),
    ...(verbosity === undefined ? [] : ['verbosity']),
  ];
}

const NONE: readonly string[] = [];
