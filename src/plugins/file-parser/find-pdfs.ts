import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Block, MediaBlock, TextBlock } from '../../canonical/blocks.ts';
import type { FileSource, ParsedFile } from '../../canonical/tools/parsed-file.ts';
import type { Turn } from '../../canonical/request.ts';
import { splitDataUrl } from '../../lib/net/data-url.ts';

/** A document of a request that is, or may be, a PDF: the content behind an address is unknown until it is fetched. */
export interface FoundPdf {
  readonly block: MediaBlock;
  readonly source: Extract<FileSource, { type: 'url' }> | Extract<MediaBlock['source'], { type: 'base64' }>;
}

/** Pictures that one request forwards. @spec plugin-12, plugin-14 */
const IMAGES_MAX = 8;
const PDF_START = '%PDF-';
/** A reader must look for the beginning of a PDF within so many bytes. ISO 32000-1, Annex H.3.4.1 */
const START_WITHIN_BYTES = 1_024;
/** Of what stands in a request, so that not all of it is decoded to look at its beginning. */
const BASE64_CHARS_PER_START = 1_368;

export function findPdfs(turns: readonly Turn[]): readonly FoundPdf[] {
  const found: FoundPdf[] = [];
  const look = (blocks: readonly Block[]): void => {
    for (const block of blocks) {
      if (block.type === 'tool-result') look(block.content);
      else if (block.type === 'media' && block.media === 'document') {
        const source = sourceOf(block);
        if (source !== undefined) found.push({ block, source });
      }
    }
  };
  for (const turn of turns) if (turn.role !== 'assistant') look(turn.blocks);
  return found;
}

function sourceOf({ source, name }: MediaBlock): FoundPdf['source'] | undefined {
  if (source.type === 'url') return { type: 'url', url: source.url };
  if (source.type !== 'base64') return undefined;
  const start = Buffer.from(source.data.slice(0, BASE64_CHARS_PER_START), 'base64');
  // What is called a PDF and is none cannot be read: an endpoint without files is not to blame for it.
  return isPdf(start) || source.mediaType === PDF_TYPE || PDF_NAME.test(name ?? '') ? source : undefined;
}

const PDF_TYPE = 'application/pdf';
const PDF_NAME = /\.pdf$/i;

/** By its first bytes: what a caller calls it is often wrong. */
export function isPdf(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, START_WITHIN_BYTES));
  return start.includes(PDF_START);
}

/** Whether an address says that it holds a PDF. */
export function isNamedPdf(url: string): boolean {
  return URL.parse(url)?.pathname.toLowerCase().endsWith('.pdf') === true;
}

/** What is hashed before others have their turn: a few milliseconds. */
const BYTES_PER_TURN = 4 * 1_024 * 1_024;

/** SHA-256 of the bytes, or of the address when the gateway does not have them. @spec plugin-12, plugin-14 */
export async function hashOf(source: FileSource): Promise<string> {
  const hash = createHash('sha256');
  if (source.type === 'url') return hash.update(source.url).digest('hex');
  for (let at = 0; at < source.bytes.length; at += BYTES_PER_TURN) {
    hash.update(source.bytes.subarray(at, at + BYTES_PER_TURN));
    await nextTurn();
  }
  return hash.digest('hex');
}

/** Text where each file stood, wrapped with its name, and its pictures behind. */
export function putInPlace(
  turns: readonly Turn[],
  files: ReadonlyMap<MediaBlock, ParsedFile>,
  withImages: boolean,
): readonly Turn[] {
  let imagesLeft = withImages ? IMAGES_MAX : 0;
  const replace = (block: Block): readonly Block[] => {
    if (block.type === 'tool-result') {
      const content = block.content.flatMap(replace);
      return [content.every((part, index) => part === block.content[index]) ? block : { ...block, content }];
    }
    const file = block.type === 'media' ? files.get(block) : undefined;
    if (block.type !== 'media' || file === undefined) return [block];
    const images = file.parts.flatMap((part) => (part.type === 'image' ? (toMediaBlock(part.url) ?? []) : []));
    const shown = images.slice(0, imagesLeft);
    imagesLeft -= shown.length;
    return [toTextBlock(block, file), ...shown];
  };
  // A turn in which nothing was found is not searched again.
  return turns.map((turn) => {
    const blocks = turn.role === 'assistant' ? turn.blocks : turn.blocks.flatMap(replace);
    return blocks.every((block, index) => block === turn.blocks[index]) ? turn : { ...turn, blocks };
  });
}

function toTextBlock({ name = 'document.pdf', cache }: MediaBlock, { parts }: ParsedFile): TextBlock {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const shownName = name.replaceAll(/["<>\r\n]/g, '_');
  return {
    type: 'text',
    text: `<file name="${shownName}">\n${text === '' ? '(no text)' : text}\n</file>`,
    ...(cache !== undefined && { cache }),
  };
}

function toMediaBlock(url: string): MediaBlock | undefined {
  const held = splitDataUrl(url);
  if (held === undefined || !held.mediaType.startsWith('image/') || held.data === '') return undefined;
  return { type: 'media', media: 'image', source: { type: 'base64', ...held } };
}
