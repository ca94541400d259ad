import type { Block, MediaBlock } from '../../canonical/blocks.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { sourceOfUrl, urlOfSource } from '../media-source.ts';
import { asExtra, fieldsOf, nestRest, restOf, withExtra } from '../extra.ts';

const IMAGE_MEMBERS: ReadonlySet<string> = new Set(['image_url']);
const URL_MEMBERS: ReadonlySet<string> = new Set(['url']);
const AUDIO_MEMBERS: ReadonlySet<string> = new Set(['data', 'transcript']);

/** The format of generated audio is not in the response: the request chose it. */
const GENERATED_AUDIO = 'audio/*';

/**
 * A generated image, an entry of an assistant message's `images`. The member `images` of its extra fields marks that it
 * stood there, and not among the content parts. @spec chat-response-10
 */
export function decodeImage(image: JsonObject): MediaBlock {
  const holder = image['image_url'];
  const url = isJsonObject(holder) && typeof holder['url'] === 'string' ? holder['url'] : '';
  const inner = isJsonObject(holder) ? restOf(holder, URL_MEMBERS) : undefined;
  const rest = nestRest(restOf(image, IMAGE_MEMBERS), 'image_url', inner) ?? {};
  return { type: 'media', media: 'image', source: sourceOfUrl(url), ...asExtra('chat', { images: rest }) };
}

/** An entry of `images`; `undefined` when the picture is one that it cannot hold. */
export function encodeImage(block: MediaBlock): JsonObject | undefined {
  const url = block.media === 'image' ? urlOfSource(block.source) : undefined;
  if (url === undefined) return undefined;
  const rest = fieldsOf(block, 'chat')?.['images'];
  return withExtra({ image_url: { url } }, isJsonObject(rest) ? rest : { type: 'image_url' });
}

/** The member `images`, of all pictures among these blocks. */
export function encodeImages(blocks: readonly Block[]): readonly JsonObject[] {
  const images: JsonObject[] = [];
  for (const block of blocks) {
    const image = block.type === 'media' ? encodeImage(block) : undefined;
    if (image !== undefined) images.push(image);
  }
  return images;
}

/** Generated audio, or only the reference to it that a caller sends back. @spec chat-20, chat-response-10 */
export function decodeAudio(audio: JsonObject): MediaBlock {
  const { id, data, transcript } = audio;
  const onlyReference = typeof data !== 'string' && typeof id === 'string';
  return {
    type: 'media',
    media: 'audio',
    source: onlyReference
      ? { type: 'file', fileId: id }
      : { type: 'base64', mediaType: GENERATED_AUDIO, data: typeof data === 'string' ? data : '' },
    ...(typeof transcript === 'string' && { transcript }),
    ...asExtra('chat', { audio: restOf(audio, AUDIO_MEMBERS) ?? {} }),
  };
}

/** The member `audio` of an assistant message. */
export function encodeAudio(block: MediaBlock): JsonObject {
  const rest = fieldsOf(block, 'chat')?.['audio'];
  const { transcript: pieces, ...fields } = isJsonObject(rest) ? rest : {};
  const transcript = block.transcript ?? (Array.isArray(pieces) ? pieces.join('') : undefined);
  return {
    ...fields,
    ...(block.source.type === 'file' && fields['id'] === undefined && { id: block.source.fileId }),
    ...(block.source.type === 'base64' && { data: block.source.data }),
    ...(transcript !== undefined && { transcript }),
  };
}

/** Whether the block stood in the assistant message's own member rather than among its content parts. */
export function stoodBeside(block: MediaBlock, member: 'images' | 'audio'): boolean {
  return fieldsOf(block, 'chat')?.[member] !== undefined;
}
