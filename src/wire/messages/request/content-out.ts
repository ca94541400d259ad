import type {
  Block,
  MediaBlock,
  MediaSource,
  OpaqueBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../../canonical/blocks.ts';
import type { ClientFormatId, Extra } from '../../../canonical/extra.ts';
import { isTextType } from '../../../canonical/text-type.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { Json } from '../../../lib/json.ts';
import { pathOfCitations, pathOfResultContent, pathsOfContent } from '../../gateway/source/source-paths.ts';
import { decodeDataUrl } from '../../../lib/net/data-url.ts';
import { encodeCacheControl } from './cache-control.ts';
import { encodeReplayedCitation } from '../citations.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import { isServerToolResult } from '../../gateway/server-tool-results.ts';
import { isOwnFamily } from '../reasoning-seal.ts';
import { MEDIUM_NAMES, unsupportedMedia } from '../../unsupported-media.ts';
import { parseToolInput, parseToolInputObject } from '../../gateway/tool-input.ts';
import { callIdOfResult } from './orphan-server-tools.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';

/** The context of encoding a block. */
export interface EncodeContext {
  /** The format that the caller speaks. */
  readonly caller: ClientFormatId;
  /** It is this one: its blocks are sent as they stand. */
  readonly own: boolean;
  readonly vendor: boolean;
  readonly warnings: Warnings;
  /** Calls and results of tools that ran at the gateway; no upstream knows them. */
  readonly hiddenCallIds: ReadonlySet<string>;
  /** Calls of tools that another provider ran; they are dropped, and their results with them. */
  readonly orphanCallIds: ReadonlySet<string>;
  /** The caller's paths of encoded blocks that may yet have to be changed. */
  readonly sourcePaths: Map<WireObject, string>;
}

/**
 * Encodes blocks for a request and leaves out those that this format cannot express, each with a warning.
 * @param paths where each stood in the caller's body
 */
export function encodeBlocks(blocks: readonly Block[], paths: readonly string[], context: EncodeContext): WireObject[] {
  const encoded: WireObject[] = [];
  for (const [at, block] of blocks.entries()) {
    const path = paths[at] ?? '';
    const wire = encodeBlock(block, path, context);
    if (wire === undefined) continue;
    if (block.cache !== undefined || block.type === 'tool-call' || block.type === 'tool-result')
      context.sourcePaths.set(wire, path);
    encoded.push(wire);
  }
  return encoded;
}

function encodeBlock(block: Block, path: string, context: EncodeContext): WireObject | undefined {
  if (isOrphan(block, context)) {
    context.warnings.add('content-dropped', path, 'a tool that another provider ran cannot be sent back to this one');
    return undefined;
  }
  switch (block.type) {
    case 'text':
      return encodeText(block, path, context);
    case 'refusal':
      return isBlank(block.text) ? undefined : { type: 'text', text: block.text };
    case 'media':
      return encodeMedia(block, path, context);
    case 'reasoning':
      return encodeReasoning(block, path, context);
    case 'tool-call':
      return encodeToolCall(block, context);
    case 'tool-result':
      return encodeToolResult(block, path, context);
    case 'opaque':
      return encodeOpaque(block, path, context);
    default:
      return unreachable(block);
  }
}

function isOrphan(block: Block, { orphanCallIds }: EncodeContext): boolean {
  if (block.type === 'tool-call') return block.runBy === 'upstream' && orphanCallIds.has(block.id);
  return orphanCallIds.size > 0 && orphanCallIds.has(callIdOfResult(block) ?? '');
}

function encodeText(block: TextBlock, path: string, { caller, warnings }: EncodeContext): WireObject | undefined {
  if (isBlank(block.text)) {
    warnings.add('content-dropped', path, 'text without a visible character is refused by this format');
    return undefined;
  }
  const citations = block.citations?.map(encodeReplayedCitation).filter((citation) => citation !== undefined);
  const lost = (block.citations?.length ?? 0) - (citations?.length ?? 0);
  if (lost > 0)
    warnings.add(
      'content-dropped',
      pathOfCitations(caller, path),
      'sources that this vendor did not give cannot be sent to it',
    );
  return addExtra(
    {
      type: 'text',
      text: block.text,
      ...(citations !== undefined && (citations.length > 0 || lost === 0) && { citations }),
      ...encodeCacheControl(block.cache),
    },
    block.extra,
  );
}

/** @throws GatewayError 400 for a file that this format cannot take */
function encodeMedia(block: MediaBlock, path: string, context: EncodeContext): WireObject {
  if (block.media === 'audio' || block.media === 'video')
    throw unsupportedMedia(path, `is ${MEDIUM_NAMES[block.media]}`);
  const source = encodeSource(block.source, path, context);
  // A chat caller may send a picture as a file.
  const picture = !context.own && textOf(source['media_type'])?.startsWith('image/') === true;
  const type = picture ? 'image' : block.media;
  if (type === 'image') warnOfPicture(block, path, context);
  return addExtra(
    {
      type,
      source,
      ...(type === 'document' && block.name !== undefined && { title: block.name }),
      ...(type === 'document' && block.context !== undefined && { context: block.context }),
      ...encodeCacheControl(block.cache),
    },
    block.extra,
  );
}

/** The resolution of an image, which only the chat format has. It is `auto` here. */
function warnOfPicture(block: MediaBlock, path: string, { own, warnings }: EncodeContext): void {
  if (own) return;
  if (block.detail !== undefined && block.detail !== 'auto')
    warnings.add('field-dropped', `${path}.image_url.detail`, 'the resolution cannot be chosen in this format');
  if (block.name !== undefined)
    warnings.add('field-dropped', `${path}.file.filename`, 'a picture has no name in this format');
}

function encodeSource(source: MediaSource, path: string, context: EncodeContext): WireObject {
  switch (source.type) {
    case 'url': {
      const data = decodeDataUrl(source.url);
      return data === undefined ? { type: 'url', url: source.url } : encodeData(data.mediaType, data.data);
    }
    case 'base64':
      return encodeData(source.mediaType, source.data);
    case 'text':
      return { type: 'text', media_type: source.mediaType, data: source.text };
    case 'blocks': {
      const [first] = source.blocks;
      const plain = source.plain === true && first?.type === 'text';
      return {
        type: 'content',
        content: plain
          ? first.text
          : encodeBlocks(source.blocks, pathsOfContent(source.blocks, source.plain, `${path}.source.content`), context),
      };
    }
    case 'file':
      if (context.own || context.vendor) return { type: 'file', file_id: source.fileId };
      throw unsupportedMedia(`${path}.file.file_id`, 'is a stored file');
    default:
      return unreachable(source);
  }
}

/** Plain text has a source of its own; in base64 the format takes only images and PDFs. */
function encodeData(mediaType: string, data: string): WireObject {
  if (isTextType(mediaType))
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  return { type: 'base64', media_type: mediaType, data };
}

/**
 * A vendor verifies signatures: only signed blocks of its own family, unedited, may go there. Compatible hosts that sign
 * nothing take readable reasoning. @spec reasoning-16, reasoning-18
 */
function encodeReasoning(block: ReasoningBlock, path: string, context: EncodeContext): WireObject | undefined {
  const { form, signature = '' } = block;
  const isSealed = form === 'encrypted' || (form === 'text' && signature !== '');
  const isPlain = form !== 'encrypted' && signature === '' && context.own && !context.vendor;
  if (!isPlain && !(isSealed && isOwnFamily(block.family))) {
    context.warnings.add('content-dropped', path, 'reasoning of another model cannot be sent back to this one');
    return undefined;
  }
  const encoded: WireObject =
    form === 'encrypted'
      ? { type: 'redacted_thinking', data: block.text }
      : { type: 'thinking', thinking: block.text, signature };
  return addExtra(encoded, block.extra);
}

function encodeToolCall(block: ToolCallBlock, context: EncodeContext): WireObject | undefined {
  if (context.hiddenCallIds.has(block.id)) return undefined;
  return addExtra(
    {
      type: block.runBy === 'upstream' ? 'server_tool_use' : 'tool_use',
      id: block.id,
      name: context.own ? block.name : legalToolName(block.name),
      input: context.own ? (parseToolInput(block.input) ?? { _raw: block.input }) : parseToolInputObject(block.input),
      ...encodeCacheControl(block.cache),
    },
    context.vendor ? block.extra : withoutCaller(block.extra),
  );
}

/**
 * Removes the member `caller` of a tool call. Our own responses have it on every call (@spec messages-30), so all of them
 * come back with it, and the vendor itself refused it once: anthropics/anthropic-sdk-python#1112 (2026-01).
 */
function withoutCaller(extra: Extra | undefined): Extra | undefined {
  if (extra?.fields['caller'] === undefined) return extra;
  const { caller: _caller, ...fields } = extra.fields;
  return { ...extra, fields };
}

function encodeToolResult(block: ToolResultBlock, path: string, context: EncodeContext): WireObject | undefined {
  if (context.hiddenCallIds.has(block.callId)) return undefined;
  const content = encodeResultContent(block, pathOfResultContent(context.caller, path), context);
  return addExtra(
    {
      type: 'tool_result',
      tool_use_id: block.callId,
      ...(content !== undefined && { content }),
      ...(block.failed !== undefined && { is_error: block.failed }),
      ...encodeCacheControl(block.cache),
    },
    block.extra,
  );
}

function encodeResultContent(block: ToolResultBlock, path: string, context: EncodeContext): Json | undefined {
  const [first] = block.content;
  if (block.plain === true && first?.type === 'text') return first.text;
  const encoded = encodeBlocks(block.content, pathsOfContent(block.content, block.plain, path), context);
  return encoded.length === 0 ? undefined : encoded;
}

function encodeOpaque(block: OpaqueBlock, path: string, context: EncodeContext): WireObject | undefined {
  if (isServerToolResult(block)) return undefined;
  if (block.format !== 'messages') {
    context.warnings.add('content-dropped', path, `a ${block.format} block cannot be sent in this format`);
    return undefined;
  }
  return addExtra({ ...block.value, ...encodeCacheControl(block.cache) }, block.extra);
}

/** Text that vendors refuse in a content block: "text content blocks must contain non-whitespace text". @spec translate-9 */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
