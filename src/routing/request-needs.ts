import type { Block, MediaBlock } from '../canonical/blocks.ts';
import type { GenerationRequest, Tool } from '../canonical/request.ts';
import { isTextType } from '../canonical/text-type.ts';
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
  /** Functions are to be hidden until they are found, and nothing of the gateway's finds them. @spec tool-42 */
  readonly deferredTools: boolean;
  /** A count that no usual text falls below: what is over a context by it is over it by every tokenizer's. */
  readonly promptTokensMin: number;
}

/** The gateway's own search of tools. */
const TOOL_SEARCH = 'service:tool_search';

/** Prose has four to five characters a token, code fewer. An estimate must never refuse what the upstream would take. */
const CHARS_PER_TOKEN_MAX = 6;

/** Blocks that offer or withdraw tools: an endpoint that ignores them would let the model call a withdrawn tool. @spec messages-25 */
const TOOL_CHANGES: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal']);

/** @param everyParameter whether an endpoint must accept all requested parameters, not only those that must not be ignored */
export function needsOf(request: GenerationRequest, everyParameter: boolean): RequestNeeds {
  const inputs = new Set<string>();
  let chars = 0;
  let nativeTools = request.tools.some((tool) => tool.type === 'opaque' && tool.format !== 'chat');
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
    deferredTools: request.tools.some(isDeferred) && !request.tools.some(findsDeferred),
    promptTokensMin: Math.floor(chars / CHARS_PER_TOKEN_MAX),
  };
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
