import type { Block, CacheBreakpoint, MediaBlock, MediaSource } from '../../../canonical/blocks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { decodeDataUrl } from '../../../lib/net/data-url.ts';
import { audioData, base64Data, mediaUrl } from '../../gateway/media/media-fields.ts';
import { sourceOfUrl } from '../../media-source.ts';
import { asExtra, restOf } from '../../extra.ts';
import { textOf } from '../../json-fields.ts';
import { invalidPrompt, isAbsent, optionalText, requireObject, requireText } from './read-fields.ts';

/** Ours: no client comes near it, and each part is checked, decoded and encoded without a pause. */
const PARTS_MAX = 2_000;
/** It becomes part of a media type. */
const AUDIO_FORMAT = /^[A-Za-z0-9][\w.+-]{0,63}$/;
/** What only the vendor may know, and the model must see. */
const UNKNOWN_PART = { member: 'type', message: 'is a type of content that the provider of the model does not know' };
const DETAILS: ReadonlySet<string> = new Set(['auto', 'low', 'high', 'original']);

const MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const;
const TEXT_MEMBERS: ReadonlySet<string> = new Set(['type', 'text', 'annotations', 'logprobs', ...MARKS]);
const IMAGE_MEMBERS: ReadonlySet<string> = new Set(['type', 'image_url', 'file_id', 'detail', ...MARKS]);
const FILE_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'file',
  'file_data',
  'file_url',
  'file_id',
  'filename',
  ...MARKS,
]);
/** Media types of files whose data comes bare, by the ending of their name. */
const TYPE_OF_ENDING: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['xml', 'text/xml'],
  ['json', 'application/json'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
]);
const FILE_TYPE_DEFAULT = 'application/pdf';

export interface DecodedContent {
  readonly blocks: readonly Block[];
  /** Of each block. */
  readonly paths: readonly string[];
  readonly plain?: true;
}

/**
 * The content of a message, or the output of a call: one string or a list of parts; null is none.
 * @param path of the member
 * @throws GatewayError 400 with the path of what is wrong
 */
export function decodeContent(content: Json | undefined, path: string): DecodedContent {
  if (isAbsent(content)) return { blocks: [], paths: [] };
  if (typeof content === 'string') return { blocks: [{ type: 'text', text: content }], paths: [path], plain: true };
  if (!Array.isArray(content)) throw invalidPrompt(path, 'must be a string or an array of parts');
  const parts: readonly Json[] = content;
  if (parts.length > PARTS_MAX) throw invalidPrompt(path, `must have at most ${PARTS_MAX} parts`);
  const paths = parts.map((_part, at) => `${path}[${at}]`);
  return { blocks: parts.map((part, at) => decodePart(part, paths[at] ?? path)), paths };
}

function decodePart(part: Json, path: string): Block {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part)) throw invalidPrompt(path, 'must be an object');
  const type = textOf(part['type']);
  switch (type ?? '') {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requireText(part, 'text', path), ...marksOf(part, TEXT_MEMBERS) };
    case 'refusal':
      return { type: 'refusal', text: requireText(part, 'refusal', path), part: true };
    case 'summary_text':
    case 'reasoning_text':
      return {
        type: 'reasoning',
        form: type === 'summary_text' ? 'summary' : 'text',
        text: requireText(part, 'text', path),
      };
    case 'input_image':
    case 'image_url':
    case 'computer_screenshot':
      return decodeImage(part, path);
    case 'input_file':
    case 'file':
      return decodeFile(part, path);
    case 'input_audio':
      return decodeAudio(part, path);
    case 'input_video':
    case 'video_url':
      return decodeVideo(part, path);
    case '':
      throw invalidPrompt(`${path}.type`, 'must be the type of the part');
    default:
      return {
        type: 'opaque',
        format: 'responses',
        value: part,
        ...(type !== 'encrypted_content' && { required: UNKNOWN_PART }),
      };
  }
}

/** An address as text, as this format has it, or below `url`, as chat has it. */
function readUrl(value: Json | undefined, path: string): string | undefined {
  if (isAbsent(value)) return undefined;
  const [url, at] = isJsonObject(value) ? [value['url'], `${path}.url`] : [value, path];
  const checked = mediaUrl.min(1).safeParse(url);
  if (checked.success) return checked.data;
  throw invalidPrompt(at, checked.error.issues[0]?.message ?? 'must be a URL');
}

function decodeImage(part: JsonObject, path: string): MediaBlock {
  const nested = isJsonObject(part['image_url']) ? part['image_url'] : {};
  const url = readUrl(part['image_url'], `${path}.image_url`);
  const fileId = optionalText(part, 'file_id', path);
  if (url === undefined && !fileId) throw invalidPrompt(`${path}.image_url`, 'or file_id must be given');
  const detail = optionalText(part, 'detail', path) ?? textOf(nested['detail']);
  if (detail !== undefined && !DETAILS.has(detail))
    throw invalidPrompt(`${path}.detail`, 'must be one of "auto", "low", "high", "original"');
  return {
    type: 'media',
    media: 'image',
    source: url === undefined ? { type: 'file', fileId: fileId ?? '' } : sourceOfUrl(url),
    ...(detail !== undefined && { detail }),
    ...marksOf(part, IMAGE_MEMBERS),
  };
}

function decodeFile(part: JsonObject, path: string): MediaBlock {
  const isChats = isJsonObject(part['file']);
  const file = isJsonObject(part['file']) ? part['file'] : part;
  const at = isChats ? `${path}.file` : path;
  const name = optionalText(file, 'filename', at);
  return {
    type: 'media',
    media: 'document',
    source: sourceOfFile(file, name, at),
    ...(name !== undefined && name !== '' && { name }),
    ...marksOf(part, FILE_MEMBERS),
  };
}

/** Data beside an id is what counts. */
function sourceOfFile(file: JsonObject, name: string | undefined, path: string): MediaSource {
  const data = optionalText(file, 'file_data', path);
  const url = readUrl(file['file_url'], `${path}.file_url`);
  const fileId = optionalText(file, 'file_id', path);
  if (data) {
    const source = sourceOfUrl(data);
    // Clients of chat write an address there, too.
    if (source.type !== 'url' || /^https?:/i.test(data)) return source;
    if (!base64Data.safeParse(data).success)
      throw invalidPrompt(`${path}.file_data`, 'must be base64, or a data: URL of base64');
    const ending = /\.(\w{1,8})$/.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
    return { type: 'base64', mediaType: TYPE_OF_ENDING.get(ending) ?? FILE_TYPE_DEFAULT, data };
  }
  if (url !== undefined) return sourceOfUrl(url);
  if (!fileId) throw invalidPrompt(`${path}.file_data`, 'or file_url or file_id must be given');
  return { type: 'file', fileId };
}

function decodeAudio(part: JsonObject, path: string): MediaBlock {
  const audio = requireObject(part, 'input_audio', path);
  const data = requireText(audio, 'data', `${path}.input_audio`);
  const format = requireText(audio, 'format', `${path}.input_audio`);
  if (!AUDIO_FORMAT.test(format)) throw invalidPrompt(`${path}.input_audio.format`, 'must be a word such as "wav"');
  if (!audioData.safeParse(data).success)
    throw invalidPrompt(`${path}.input_audio.data`, 'must be base64, or a data: URL; an address is not opened');
  return {
    type: 'media',
    media: 'audio',
    source: { type: 'base64', mediaType: `audio/${format}`, data: decodeDataUrl(data)?.data ?? data },
    ...marksOf(part, new Set(['type', 'input_audio', ...MARKS])),
  };
}

function decodeVideo(part: JsonObject, path: string): MediaBlock {
  const url = readUrl(part['video_url'], `${path}.video_url`);
  if (url === undefined) throw invalidPrompt(`${path}.video_url`, 'must be a URL');
  return {
    type: 'media',
    media: 'video',
    source: sourceOfUrl(url),
    ...marksOf(part, new Set(['type', 'video_url', ...MARKS])),
  };
}

function marksOf(part: JsonObject, known: ReadonlySet<string>): Pick<Block, 'cache' | 'extra'> {
  return { ...decodeCacheControl(part), ...asExtra('responses', restOf(part, known)) };
}

/** Either spelling of a breakpoint; what is neither marks nothing. */
export function decodeCacheControl(object: JsonObject): { readonly cache?: CacheBreakpoint } {
  const { cache_control: directive, prompt_cache_breakpoint: mark } = object;
  if (isJsonObject(directive)) {
    const { ttl } = directive;
    return { cache: { kind: 'ephemeral', ...((ttl === '5m' || ttl === '1h') && { ttl }) } };
  }
  return isJsonObject(mark) ? { cache: { kind: 'explicit' } } : {};
}
