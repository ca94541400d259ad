import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { dataUrlHead } from '../../../lib/net/data-url.ts';
import { audioPart, urlOfSource } from '../../media-source.ts';
import { writeOutDocuments } from '../../text-documents.ts';
import { warnOfUnsupportedBlock } from '../../unsupported-blocks.ts';
import { MEDIUM_NAMES, unsupportedMedia } from '../../unsupported-media.ts';
import type { Dialect } from '../../format.ts';
import type { LocatedBlock } from '../../gateway/source/source-positions.ts';
import { takesItem } from './opaque-items.ts';
import { takesBreakpoints, withBreakpoint } from './cache-control.ts';
import type { EncodeContext } from './encode-context.ts';

const ADDRESS = /^https?:/i;
const PICTURE = /^image\//;

/** Content as one string where it is one text, otherwise as parts. */
export type Content = string | readonly JsonObject[];

/**
 * Encodes blocks as content parts; a block that the format cannot express is left out with a warning.
 * @throws GatewayError 400 for a file that the format cannot express
 */
export function encodeParts(blocks: readonly LocatedBlock[], context: EncodeContext): readonly JsonObject[] {
  const parts: JsonObject[] = [];
  for (const { block, path } of blocks) {
    for (const plain of writeOutDocuments([block])) {
      const part = encodeInput(plain, path, context);
      if (part === undefined && plain.type === 'media') throw unsupportedMedia(path, `is ${MEDIUM_NAMES[plain.media]}`);
      if (part === undefined) warnOfUnsupportedBlock(plain, path, context.warnings.add);
      else parts.push(part);
    }
  }
  const filled = parts.filter((part) => part['text'] !== '');
  return filled.length === 0 ? parts.slice(0, 1) : filled;
}

/** One text without a breakpoint is a string, which every host takes. */
export function simplify(parts: readonly JsonObject[]): Content {
  const [first] = parts;
  const text = first?.['text'];
  const plain = parts.length === 1 && typeof text === 'string' && first?.['prompt_cache_breakpoint'] === undefined;
  return plain ? text : parts;
}

function encodeInput(block: Block, path: string, context: EncodeContext): JsonObject | undefined {
  const part = encodeInputPart(block, path, context);
  const marked = part !== undefined && block.cache !== undefined && takesBreakpoints(context.target.dialect);
  return marked ? withBreakpoint(part) : part;
}

/** @spec translate-13, translate-14; vendor's SDK, openai 7.55 (2026-11), `ResponseInputContent` */
function encodeInputPart(block: Block, path: string, context: EncodeContext): JsonObject | undefined {
  if (block.type === 'text' || block.type === 'refusal') return { type: 'input_text', text: block.text };
  if (block.type === 'opaque') return takesItem(block, context.target.dialect) ? block.value : undefined;
  if (block.type !== 'media') return undefined;
  const { media, source } = block;
  if (media === 'image' || (source.type === 'base64' && PICTURE.test(source.mediaType)))
    return encodeImage(block, context.target.dialect);
  if (media === 'document') return encodeDocument(block, path, context);
  return media === 'audio' ? audioPart(source) : undefined;
}

function encodeImage({ source, detail }: MediaBlock, { originalDetail }: Dialect): JsonObject | undefined {
  // @spec chat-11: `original` is downgraded where the upstream has no such tier.
  const known = detail === 'original' && originalDetail !== true ? 'high' : detail;
  const shown = known === undefined ? {} : { detail: known };
  if (source.type === 'file') return { type: 'input_image', file_id: source.fileId, ...shown };
  const url = urlOfSource(source);
  return url === undefined ? undefined : { type: 'input_image', image_url: url, ...shown };
}

function encodeDocument(block: MediaBlock, path: string, context: EncodeContext): JsonObject | undefined {
  const { source, name } = block;
  const { documentInputs } = context.target.dialect;
  if (block.context !== undefined)
    context.warnings.add('field-dropped', `${path}.context`, 'a file has no description in this format');
  if (documentInputs === 'none') return undefined;
  const url = urlOfSource(source);
  const isLink = source.type === 'file' || (url !== undefined && ADDRESS.test(url));
  if (isLink && name !== undefined)
    context.warnings.add('field-dropped', `${path}.filename`, 'the name stands beside the data of a file only');
  if (source.type === 'file') return { type: 'input_file', file_id: source.fileId };
  if (url === undefined) return undefined;
  if (isLink) return { type: 'input_file', file_url: url };
  return documentInputs === 'links'
    ? undefined
    : { type: 'input_file', filename: name ?? nameFor(url), file_data: url };
}

/** The vendor demands a name with the data, and derives the kind of file from it. */
function nameFor(dataUrl: string): string {
  const [, subtype = 'bin'] = /\/([\w.+-]{1,40})/.exec(dataUrlHead(dataUrl)?.mediaType ?? '') ?? [];
  return `document.${subtype === 'plain' ? 'txt' : subtype}`;
}
