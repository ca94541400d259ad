import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';
import { keepCacheControlRest, nestCacheControlRest, decodeCacheControl, encodeCacheControl } from './cache-control.ts';
import { asExtra, fieldsOf, nestRest, restOf, withExtra } from '../../extra.ts';
import { decodeDataUrl } from '../../../lib/net/data-url.ts';
import { audioPart, sourceOfUrl, urlOfSource } from '../../media-source.ts';
import type { ChatContentPart } from './message-schema.ts';
import { MEDIUM_NAMES } from '../../unsupported-media.ts';

const MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const;
const TEXT_MEMBERS: ReadonlySet<string> = new Set(['type', 'text', ...MARKS]);
const REFUSAL_MEMBERS: ReadonlySet<string> = new Set(['type', 'refusal']);
const MEMBERS_OF_MEDIA = {
  image_url: new Set(['url', 'detail']),
  input_audio: new Set(['data', 'format']),
  video_url: new Set(['url']),
  file: new Set(['file_data', 'filename']),
} as const satisfies Record<string, ReadonlySet<string>>;
const PART_MEMBERS: ReadonlySet<string> = new Set(['type', ...MARKS, ...Object.keys(MEMBERS_OF_MEDIA)]);

/** @spec chat-10 */
export function decodePart(part: ChatContentPart): Block {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...markExtras(part, restOf(part, TEXT_MEMBERS)) };
    case 'refusal':
      return { type: 'refusal', text: part.refusal, part: true, ...asExtra('chat', restOf(part, REFUSAL_MEMBERS)) };
    case 'image_url':
      return {
        type: 'media',
        media: 'image',
        source: sourceOfUrl(part.image_url.url),
        ...(part.image_url.detail && { detail: part.image_url.detail }),
        ...mediaExtras(part, 'image_url', part.image_url),
      };
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return {
        type: 'media',
        media: 'audio',
        source: { type: 'base64', mediaType: `audio/${format}`, data: decodeDataUrl(data)?.data ?? data },
        ...mediaExtras(part, 'input_audio', part.input_audio),
      };
    }
    case 'video_url':
    case 'input_video':
      return {
        type: 'media',
        media: 'video',
        source: sourceOfUrl(part.video_url.url),
        ...mediaExtras(part, 'video_url', part.video_url),
      };
    case 'file':
      return decodeFile(part);
    default:
      return unreachable(part);
  }
}

type MarkedPart = Exclude<ChatContentPart, { type: 'refusal' }>;
type MediaPart = Exclude<MarkedPart, { type: 'text' }>;
type FilePart = Extract<ChatContentPart, { type: 'file' }>;

/** With both, the content is the source and the id is kept beside it. */
function decodeFile(part: FilePart): MediaBlock {
  const { file_data: fileData, file_id: fileId, filename } = part.file;
  return {
    type: 'media',
    media: 'document',
    source: fileData ? sourceOfUrl(fileData) : { type: 'file', fileId: fileId ?? '' },
    ...(filename && { name: filename }),
    ...mediaExtras(part, 'file', fileData ? part.file : { ...part.file, file_id: undefined }),
  };
}

function mediaExtras(
  part: MediaPart,
  member: keyof typeof MEMBERS_OF_MEDIA,
  inner: Readonly<Record<string, unknown>>,
): Pick<Block, 'cache' | 'extra'> {
  const rest = nestRest(restOf(part, PART_MEMBERS), member, restOf(inner, MEMBERS_OF_MEDIA[member]));
  return markExtras(part, rest);
}

function markExtras(part: MarkedPart, rest: JsonObject | undefined): Pick<Block, 'cache' | 'extra'> {
  return { ...decodeCacheControl(part), ...asExtra('chat', nestCacheControlRest(rest, part.cache_control)) };
}

/** Encodes a block as a content part; `undefined` for a block that no content part can express. */
export function encodePart(block: Block, dialect: Dialect): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      return withMark({ type: 'text', text: block.text }, block, dialect);
    case 'refusal':
      return withExtra({ type: 'refusal', refusal: block.text }, fieldsOf(block, 'chat'));
    case 'media': {
      const own = mediaMember(block, dialect);
      return own && withMark(own, block, dialect);
    }
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
    case 'opaque':
      return undefined;
    default:
      return unreachable(block);
  }
}

function withMark(own: JsonObject, block: Block, dialect: Dialect): JsonObject {
  const { file, ...rest } = keepCacheControlRest(fieldsOf(block, 'chat'), dialect) ?? {};
  const marked = { ...own, ...encodeCacheControl(block.cache, dialect) };
  // What was left of a file goes back only into one.
  return withExtra(marked, own['file'] === undefined || file === undefined ? rest : { ...rest, file });
}

function mediaMember(block: MediaBlock, dialect: Dialect): JsonObject | undefined {
  const { media, source } = block;
  if (media === 'audio') return audioPart(source);
  const url = urlOfSource(source);
  if (media === 'document') return documentMember(block, url, dialect);
  if (url === undefined) return undefined;
  if (media === 'video') return { type: 'video_url', video_url: { url } };
  // @spec chat-11: `original` is downgraded where the upstream has no such tier.
  const detail = block.detail === 'original' && dialect.originalDetail !== true ? 'high' : block.detail;
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
}

function documentMember(
  { source, name }: MediaBlock,
  url: string | undefined,
  dialect: Dialect,
): JsonObject | undefined {
  const named = name === undefined ? {} : { filename: name };
  if (source.type === 'file') return { type: 'file', file: { file_id: source.fileId, ...named } };
  if (url === undefined || mustInlineUrl(url, 'document', dialect)) return undefined;
  if (dialect.documentPart !== 'document_url') return { type: 'file', file: { file_data: url, ...named } };
  return { type: 'document_url', document_url: url, ...(name !== undefined && { document_name: name }) };
}

/** A file that `encodePart` has no part for, as the beginning of a sentence. */
export function describeMedia({ media, source }: MediaBlock): string {
  const words = MEDIUM_NAMES[media];
  return source.type === 'url' ? `is ${words} at an address` : `is ${words}`;
}

/** Whether the upstream opens no address of this kind, so that the bytes must be sent. */
export function mustInlineUrl(url: string, media: MediaBlock['media'], dialect: Dialect): boolean {
  return media === 'document' && dialect.documentUrls !== true && /^https?:/i.test(url);
}
