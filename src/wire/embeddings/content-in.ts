import { ownEntry } from '../json-fields.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import {
  mediaOfInputs,
  type ContentPiece,
  type EmbeddedMedia,
  type EmbeddingsInput,
} from '../../canonical/media/embeddings-input.ts';
import { isOwnFileId } from '../../canonical/tools/stored-files.ts';
import { isJsonObject } from '../../lib/json.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';

const INPUT_CHARS_MAX = 1_000_000;
const PIECES_MAX = 100;
const FILES_MAX = 32;
const BASE64_START = /^[A-Za-z0-9+/_-]/;

/** @throws GatewayError 400 */
export function readText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalid(path, 'must be a text');
  if (value === '') throw invalid(path, 'must not be empty');
  if (value.length > INPUT_CHARS_MAX)
    throw invalid(path, `must have at most ${INPUT_CHARS_MAX} characters`, 'string_too_long');
  return value;
}

const MEDIA_OF_TYPE: Readonly<Record<string, EmbeddedMedia['media']>> = {
  image_url: 'image',
  input_audio: 'audio',
  input_video: 'video',
  input_file: 'document',
};

/** Content of which one vector is made: `{content: [{type: text, text}, {type: image_url, image_url: {url}}, ...]}`. @throws GatewayError 400 */
export function readContent(item: unknown, path: string): EmbeddingsInput {
  if (!isJsonObject(item)) throw invalid(path, 'must be an object with content, as the first item is');
  const { content } = item;
  const at = `${path}.content`;
  if (!Array.isArray(content)) throw invalid(at, 'must be a list of parts');
  if (content.length === 0) throw invalid(at, 'must not be empty');
  if (content.length > PIECES_MAX) throw invalid(at, `must have at most ${PIECES_MAX} parts`);
  const pieces = content.map((part, index) => readPiece(part, `${at}[${index}]`));
  const [piece, second] = pieces;
  return piece?.type === 'text' && second === undefined ? piece.text : { pieces };
}

function readPiece(part: unknown, path: string): ContentPiece {
  if (!isJsonObject(part)) throw invalid(path, 'must be an object with a type');
  const { type } = part;
  if (type === 'text') return { type: 'text', text: readText(part['text'], `${path}.text`) };
  const media = typeof type === 'string' ? ownEntry(MEDIA_OF_TYPE, type) : undefined;
  if (typeof type !== 'string' || media === undefined)
    throw invalid(
      `${path}.type`,
      `must be one of "text", ${Object.keys(MEDIA_OF_TYPE)
        .map((one) => `"${one}"`)
        .join(', ')}`,
    );
  const named = part[type];
  const at = `${path}.${type}`;
  if (!isJsonObject(named)) throw invalid(at, 'must be an object');
  const { url, data, file_id: fileId } = named;
  if (typeof fileId === 'string' && fileId !== '') {
    if (!isOwnFileId(fileId))
      throw invalid(`${at}.file_id`, 'is not the id of a file of the gateway: upload it to /files');
    return { type: 'media', media, path: `${at}.file_id`, url: fileId };
  }
  const member = media === 'image' ? 'url' : 'data';
  return {
    type: 'media',
    media,
    path: `${at}.${member}`,
    url: addressOf(media === 'image' ? url : data, `${at}.${member}`, media),
  };
}

/** An address, or the data itself: base64 alone, except for pictures, or a data URL. */
function addressOf(value: unknown, path: string, media: EmbeddedMedia['media']): string {
  if (typeof value !== 'string' || value === '')
    throw invalid(path, 'must be a text: an address, or the data as base64');
  if (dataUrlHead(value)?.isBase64 === true || /^https?:\/\//i.test(value)) return value;
  if (media !== 'image' && BASE64_START.test(value)) return `data:application/octet-stream;base64,${value}`;
  throw invalid(path, 'must be an https address, or a data URL with base64');
}

/** A picture that stands alone, as Cohere's clients send it. @throws GatewayError 400 */
export function readPicture(value: unknown, path: string): EmbeddingsInput {
  return { pieces: [{ type: 'media', media: 'image', path, url: addressOf(value, path, 'image') }] };
}

/** @throws GatewayError 400 for more files than one request may name */
export function withFewFiles(inputs: readonly EmbeddingsInput[]): readonly EmbeddingsInput[] {
  const over = mediaOfInputs(inputs)[FILES_MAX];
  if (over !== undefined) throw invalid(over.path, `is one file too many: a request may name ${FILES_MAX}`);
  return inputs;
}
