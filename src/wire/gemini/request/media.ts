import type { MediaBlock, MediaSource } from '../../../canonical/blocks.ts';
import { isTextType } from '../../../canonical/text-type.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeDataUrl } from '../../../lib/net/data-url.ts';
import type { EncodeContext } from './encode-context.ts';

/** A file as the format has it; its part may carry more. */
export type WireFile =
  | { readonly inlineData: { readonly mimeType: string; readonly data: string } }
  | { readonly fileData: JsonObject };

/** Names that callers use, where the vendor has another. ai.google.dev "Audio", "Video", "Images", read 2026-11. */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/mpeg', 'audio/mp3'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['video/quicktime', 'video/mov'],
]);

/** Media types by the ending of an address, for files whose bytes the gateway does not have. */
const TYPE_OF_ENDING: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['gif', 'image/gif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/mov'],
  ['webm', 'video/webm'],
  ['mpeg', 'video/mpeg'],
]);
const TYPE_OF_MEDIA: Readonly<Record<MediaBlock['media'], string>> = {
  image: 'image/jpeg',
  audio: 'audio/mp3',
  video: 'video/mp4',
  document: 'application/pdf',
};

const YOUTUBE = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/(?:watch\?|shorts\/)|youtu\.be\/)/i;
/** Files that the vendor holds already: its Files API, and its storage. */
const OWN_FILE = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/(?:[^/]+\/)?files\/)/i;

/**
 * Whether an address must be made bytes before it is encoded: the vendor opens only its own files, and videos where it
 * has them by name. What cannot be fetched is refused then, and not left out. @spec translate-13
 */
export function mustInlineUrl(url: string): boolean {
  return !OWN_FILE.test(url) && !YOUTUBE.test(url) && decodeDataUrl(url) === undefined;
}

/** The block with what is text in it as text: the vendor reads PDFs and `text/...`, but no other kind of document. */
export function decodeText(block: MediaBlock): MediaBlock {
  const bytes = bytesOf(block.source);
  if (block.media !== 'document' || bytes === undefined || !isForeignText(bytes.mediaType)) return block;
  const text = Buffer.from(bytes.data, 'base64').toString('utf8');
  return { ...block, source: { type: 'text', mediaType: bytes.mediaType, text } };
}

function isForeignText(mediaType: string): boolean {
  return mediaType === 'application/rtf' || (isTextType(mediaType) && !mediaType.startsWith('text/'));
}

function bytesOf(source: MediaSource): { readonly mediaType: string; readonly data: string } | undefined {
  if (source.type === 'base64') return source;
  return source.type === 'url' ? decodeDataUrl(source.url) : undefined;
}

/** A file is bytes and a type here: neither its name nor its description has a place. */
function warnOfLabels({ name, context: about }: MediaBlock, path: string, { request, warn }: EncodeContext): void {
  const member = request.format === 'chat' ? 'file.filename' : 'title';
  if (name !== undefined) warn('field-dropped', `${path}.${member}`, 'a file has no name in this format');
  if (about !== undefined) warn('field-dropped', `${path}.context`, 'a file has no description in this format');
}

/** `undefined` for a file that this format cannot carry: one stored elsewhere, or a video where none are looked up. */
export function encodeFile(block: MediaBlock, path: string, context: EncodeContext): WireFile | undefined {
  warnOfLabels(block, path, context);
  const bytes = bytesOf(block.source);
  if (bytes !== undefined)
    return { inlineData: { mimeType: MEDIA_TYPES.get(bytes.mediaType) ?? bytes.mediaType, data: bytes.data } };
  const address = addressOf(block.source);
  if (address === undefined) return undefined;
  if (!YOUTUBE.test(address)) return { fileData: { mimeType: guessType(address, block.media), fileUri: address } };
  return context.facts.youTube === true ? { fileData: { fileUri: address } } : undefined;
}

/** A file that the format cannot carry, as the beginning of a sentence. */
export function describeMedia({ source }: MediaBlock): string {
  return source.type === 'url' ? 'is a video at YouTube' : 'is a stored file';
}

function addressOf(source: MediaSource): string | undefined {
  if (source.type === 'url') return source.url;
  return source.type === 'file' && OWN_FILE.test(source.fileId) ? source.fileId : undefined;
}

/** The vendor demands a type beside an address. */
function guessType(address: string, media: MediaBlock['media']): string {
  const [path = ''] = address.split(/[?#]/, 1);
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return TYPE_OF_ENDING.get(ending) ?? TYPE_OF_MEDIA[media];
}
