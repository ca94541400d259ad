import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import { isTextType } from '../../../canonical/text-type.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { urlOfSource } from '../../media-source.ts';
import { writeOutDocuments } from '../../text-documents.ts';
import { typeOfBlock } from '../../unsupported-blocks.ts';
import { MEDIUM_NAMES, unsupportedMedia } from '../../unsupported-media.ts';
import type { EncodeContext } from './encode-context.ts';
import type { LocatedBlock } from '../../gateway/source/source-positions.ts';

/** Text, and pictures where they may stand. */
export type ContentPart = JsonObject;

/** Documents that are to be cited, as they are sent, and the blocks that they were. */
export interface CitedDocuments {
  readonly list: JsonObject[];
  readonly blocks: Set<Block>;
}

/** Whether the image detail goes on as it is; the vendor knows no other. */
const DETAILS: ReadonlySet<string> = new Set(['auto', 'low', 'high']);

/**
 * Content parts of a user message. Documents of text are written out in place, unless the caller wants them cited.
 * @param documents takes those that are to be cited; absent: none can be
 */
export function encodeContent(
  blocks: readonly LocatedBlock[],
  documents: CitedDocuments | undefined,
  context: EncodeContext,
): readonly ContentPart[] {
  const parts: ContentPart[] = [];
  for (const { block, path } of blocks) {
    if (block.type === 'tool-result') continue;
    if (documents !== undefined && addCited(block, documents)) continue;
    for (const part of writeOutDocuments([asText(block)])) {
      const encoded = encodePart(part, path, context);
      if (encoded !== undefined && encoded['text'] !== '') parts.push(encoded);
    }
  }
  return parts;
}

/** One string where there is nothing but one text, which every host takes. */
export function joinParts(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  const [only] = parts;
  return parts.length === 1 && typeof only?.['text'] === 'string' ? only['text'] : parts;
}

/**
 * `undefined` for what the format cannot take here, which is recorded.
 * @throws GatewayError 400 for a file
 */
function encodePart(block: Block, path: string, { warnings }: EncodeContext): ContentPart | undefined {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'refusal') return { type: 'text', text: block.text };
  const picture = block.type === 'media' ? encodeImage(block) : undefined;
  if (picture !== undefined) return picture;
  if (block.type === 'media') throw unsupportedMedia(path, `is ${MEDIUM_NAMES[block.media]}`);
  warnings.add('content-dropped', path, `${typeOfBlock(block)} cannot be sent in this format`);
  return undefined;
}

/** Also a picture that came as a file. */
function encodeImage({ media, source, detail }: MediaBlock): ContentPart | undefined {
  const isPicture = media === 'image' || (source.type === 'base64' && source.mediaType.startsWith('image/'));
  const url = isPicture ? urlOfSource(source) : undefined;
  if (url === undefined) return undefined;
  const known = detail === undefined || DETAILS.has(detail) ? detail : 'high';
  return { type: 'image_url', image_url: { url, ...(known !== undefined && { detail: known }) } };
}

/** A file of text as the text that it holds. */
function asText(block: Block): Block {
  if (block.type !== 'media' || block.media !== 'document' || block.source.type !== 'base64') return block;
  const { mediaType, data } = block.source;
  if (!isTextType(mediaType)) return block;
  return { ...block, source: { type: 'text', mediaType, text: Buffer.from(data, 'base64').toString('utf8') } };
}

/**
 * A document that the caller wants cited goes where the model cites from. Its id is its place, as the vendor itself
 * numbers documents without one.
 * @returns false for any other block
 */
function addCited(block: Block, documents: CitedDocuments): boolean {
  const setting = block.extra?.fields['citations'];
  if (block.type !== 'media' || block.media !== 'document' || !isJsonObject(setting) || setting['enabled'] !== true)
    return false;
  const text = textOfDocument(asText(block));
  if (text === undefined) return false;
  const { name, context } = block;
  const data = { ...(name !== undefined && { title: name }), ...(context !== undefined && { context }), text };
  documents.list.push({ id: `doc:${documents.list.length}`, data });
  documents.blocks.add(block);
  return true;
}

/** `undefined` when it holds anything but text. */
function textOfDocument(block: Block): string | undefined {
  if (block.type !== 'media') return undefined;
  const { source } = block;
  if (source.type === 'text') return source.text;
  if (source.type !== 'blocks' || source.blocks.some(({ type }) => type !== 'text')) return undefined;
  return source.blocks.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n\n');
}
