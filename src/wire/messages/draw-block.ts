import type {
  Block,
  MediaBlock,
  MediaSource,
  OpaqueBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../canonical/blocks.ts';
import type { Extra } from '../../canonical/extra.ts';
import { isTextType } from '../../canonical/text-type.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Json } from '../../lib/json.ts';
import { pathOfCitations, pathsOfContent } from '../caller-paths.ts';
import { readDataUrl } from '../gateway/data-url.ts';
import { drawCacheMark } from './cache-marks.ts';
import { drawReplayedCitation } from './citations.ts';
import { legalToolName } from '../gateway/legal-tool-name.ts';
import { isOwnResult } from '../gateway/own-results.ts';
import { isOwnFamily } from './reasoning-seal.ts';
import { MEDIUM_WORDS, unreadableMedia } from '../unreadable-media.ts';
import { parseToolInput, parseToolInputObject } from '../tool-input.ts';
import { callIdOfResult } from './stray-server-calls.ts';
import type { Warnings } from '../gateway/warnings.ts';
import { addExtra, isBlank, stringOf } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/** What drawing a block depends on. */
export interface DrawContext {
  /** The caller speaks this format: what it sent goes on as it stands. */
  readonly own: boolean;
  readonly vendor: boolean;
  readonly warnings: Warnings;
  /** Calls and results of tools that ran at the gateway; no upstream knows them. */
  readonly hiddenCallIds: ReadonlySet<string>;
  /** Calls of tools that another provider ran; they go, and their results with them. */
  readonly strayCallIds: ReadonlySet<string>;
  /** Where the caller wrote what was drawn, of whatever may yet have to be changed. */
  readonly places: Map<WireObject, string>;
}

/**
 * Draws blocks for a request and leaves out those that this wire cannot take, each with a warning.
 * @param paths where each stood in the caller's body
 */
export function drawBlocks(blocks: readonly Block[], paths: readonly string[], context: DrawContext): WireObject[] {
  const drawn: WireObject[] = [];
  for (const [at, block] of blocks.entries()) {
    const path = paths[at] ?? '';
    const wire = drawBlock(block, path, context);
    if (wire === undefined) continue;
    if (block.cache !== undefined || block.type === 'tool-call' || block.type === 'tool-result')
      context.places.set(wire, path);
    drawn.push(wire);
  }
  return drawn;
}

function drawBlock(block: Block, path: string, context: DrawContext): WireObject | undefined {
  if (isStray(block, context)) {
    context.warnings.add('content-dropped', path, 'a tool that another provider ran cannot be sent back to this one');
    return undefined;
  }
  switch (block.type) {
    case 'text':
      return drawText(block, path, context);
    case 'refusal':
      return isBlank(block.text) ? undefined : { type: 'text', text: block.text };
    case 'media':
      return drawMedia(block, path, context);
    case 'reasoning':
      return drawReasoning(block, path, context);
    case 'tool-call':
      return drawToolCall(block, context);
    case 'tool-result':
      return drawToolResult(block, path, context);
    case 'opaque':
      return drawOpaque(block, path, context);
    default:
      return unreachable(block);
  }
}

function isStray(block: Block, { strayCallIds }: DrawContext): boolean {
  if (block.type === 'tool-call') return block.runBy === 'upstream' && strayCallIds.has(block.id);
  return strayCallIds.size > 0 && strayCallIds.has(callIdOfResult(block) ?? '');
}

function drawText(block: TextBlock, path: string, { own, warnings }: DrawContext): WireObject | undefined {
  if (isBlank(block.text)) {
    warnings.add('content-dropped', path, 'text without a visible character is refused by this format');
    return undefined;
  }
  const citations = block.citations?.map(drawReplayedCitation).filter((citation) => citation !== undefined);
  const lost = (block.citations?.length ?? 0) - (citations?.length ?? 0);
  if (lost > 0)
    warnings.add(
      'content-dropped',
      pathOfCitations(own ? 'messages' : 'chat', path),
      'sources that this vendor did not give cannot be sent to it',
    );
  return addExtra(
    {
      type: 'text',
      text: block.text,
      ...(citations !== undefined && (citations.length > 0 || lost === 0) && { citations }),
      ...drawCacheMark(block.cache),
    },
    block.extra,
  );
}

/** @throws GatewayError 400 for a file that this wire cannot take */
function drawMedia(block: MediaBlock, path: string, context: DrawContext): WireObject {
  if (block.media === 'audio' || block.media === 'video')
    throw unreadableMedia(path, `is ${MEDIUM_WORDS[block.media]}`);
  const source = drawSource(block.source, path, context);
  // A chat caller may send a picture as a file.
  const picture = !context.own && stringOf(source['media_type'])?.startsWith('image/') === true;
  const type = picture ? 'image' : block.media;
  if (type === 'image') warnOfPicture(block, path, context);
  return addExtra(
    {
      type,
      source,
      ...(type === 'document' && block.name !== undefined && { title: block.name }),
      ...(type === 'document' && block.context !== undefined && { context: block.context }),
      ...drawCacheMark(block.cache),
    },
    block.extra,
  );
}

/** What the chat format says about a picture and this one does not. `auto` is what it gets. */
function warnOfPicture(block: MediaBlock, path: string, { own, warnings }: DrawContext): void {
  if (own) return;
  if (block.detail !== undefined && block.detail !== 'auto')
    warnings.add('field-dropped', `${path}.image_url.detail`, 'the resolution cannot be chosen in this format');
  if (block.name !== undefined)
    warnings.add('field-dropped', `${path}.file.filename`, 'a picture has no name in this format');
}

function drawSource(source: MediaSource, path: string, context: DrawContext): WireObject {
  switch (source.type) {
    case 'url': {
      const data = readDataUrl(source.url);
      return data === undefined ? { type: 'url', url: source.url } : drawData(data.mediaType, data.data);
    }
    case 'base64':
      return drawData(source.mediaType, source.data);
    case 'text':
      return { type: 'text', media_type: source.mediaType, data: source.text };
    case 'blocks': {
      const [first] = source.blocks;
      const plain = source.plain === true && first?.type === 'text';
      return {
        type: 'content',
        content: plain
          ? first.text
          : drawBlocks(source.blocks, pathsOfContent(source.blocks, source.plain, `${path}.source.content`), context),
      };
    }
    case 'file':
      if (context.own || context.vendor) return { type: 'file', file_id: source.fileId };
      throw unreadableMedia(`${path}.file.file_id`, 'is a stored file');
    default:
      return unreachable(source);
  }
}

/** Plain text has a source of its own; in base64 the wire takes only images and PDFs. */
function drawData(mediaType: string, data: string): WireObject {
  if (isTextType(mediaType))
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  return { type: 'base64', media_type: mediaType, data };
}

/**
 * A vendor verifies signatures: only signed blocks of its own family, unedited, may go there. Compatible hosts that sign
 * nothing take what anybody can read. @source generation.md 1.4 "Replay", 11.5; pains.md 17
 */
function drawReasoning(block: ReasoningBlock, path: string, context: DrawContext): WireObject | undefined {
  const { form, signature = '' } = block;
  const isSealed = form === 'encrypted' || (form === 'text' && signature !== '');
  const isPlain = form !== 'encrypted' && signature === '' && context.own && !context.vendor;
  if (!isPlain && !(isSealed && isOwnFamily(block.family))) {
    context.warnings.add('content-dropped', path, 'reasoning of another model cannot be sent back to this one');
    return undefined;
  }
  const drawn: WireObject =
    form === 'encrypted'
      ? { type: 'redacted_thinking', data: block.text }
      : { type: 'thinking', thinking: block.text, signature };
  return addExtra(drawn, block.extra);
}

function drawToolCall(block: ToolCallBlock, context: DrawContext): WireObject | undefined {
  if (context.hiddenCallIds.has(block.id)) return undefined;
  return addExtra(
    {
      type: block.runBy === 'upstream' ? 'server_tool_use' : 'tool_use',
      id: block.id,
      name: context.own ? block.name : legalToolName(block.name),
      input: context.own ? (parseToolInput(block.input) ?? { _raw: block.input }) : parseToolInputObject(block.input),
      ...drawCacheMark(block.cache),
    },
    context.vendor ? block.extra : withoutCaller(block.extra),
  );
}

/**
 * Who called a tool. Our own answers say it of every call (generation.md 7.8), so it comes back with all of them, and the
 * vendor itself refused it once: anthropics/anthropic-sdk-python#1112 (2026-01).
 */
function withoutCaller(extra: Extra | undefined): Extra | undefined {
  if (extra?.fields['caller'] === undefined) return extra;
  const { caller: _caller, ...fields } = extra.fields;
  return { ...extra, fields };
}

function drawToolResult(block: ToolResultBlock, path: string, context: DrawContext): WireObject | undefined {
  if (context.hiddenCallIds.has(block.callId)) return undefined;
  const content = drawResultContent(block, `${path}.content`, context);
  return addExtra(
    {
      type: 'tool_result',
      tool_use_id: block.callId,
      ...(content !== undefined && { content }),
      ...(block.failed !== undefined && { is_error: block.failed }),
      ...drawCacheMark(block.cache),
    },
    block.extra,
  );
}

function drawResultContent(block: ToolResultBlock, path: string, context: DrawContext): Json | undefined {
  const [first] = block.content;
  if (block.plain === true && first?.type === 'text') return first.text;
  const drawn = drawBlocks(block.content, pathsOfContent(block.content, block.plain, path), context);
  return drawn.length === 0 ? undefined : drawn;
}

function drawOpaque(block: OpaqueBlock, path: string, context: DrawContext): WireObject | undefined {
  if (isOwnResult(block)) return undefined;
  if (block.format !== 'messages') {
    context.warnings.add('content-dropped', path, `a ${block.format} block cannot be sent in this format`);
    return undefined;
  }
  return addExtra({ ...block.value, ...drawCacheMark(block.cache) }, block.extra);
}
