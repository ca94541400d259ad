import type { MediaSource } from '../canonical/blocks.ts';
import type { JsonObject } from '../lib/json.ts';
import { makeDataUrl, splitDataUrl } from '../lib/net/data-url.ts';

/** Media types whose name differs from the value of `input_audio.format`. */
const AUDIO_FORMAT_OF_SUBTYPE: ReadonlyMap<string, string> = new Map([
  ['mpeg', 'mp3'],
  ['x-wav', 'wav'],
  ['wave', 'wav'],
  ['mp4', 'm4a'],
]);

/** Bytes where the URL holds them, the URL otherwise. */
export function sourceOfUrl(url: string): MediaSource {
  const data = splitDataUrl(url);
  return data === undefined ? { type: 'url', url } : { type: 'base64', ...data };
}

/** The inverse of `sourceOfUrl`; `undefined` for a source that has no URL. */
export function urlOfSource(source: MediaSource): string | undefined {
  if (source.type === 'url') return source.url;
  return source.type === 'base64' ? makeDataUrl(source.mediaType, source.data) : undefined;
}

/** The part that sound is in the formats of OpenAI; `undefined` where its bytes are not there. @spec chat-10 */
export function audioPart(source: MediaSource): JsonObject | undefined {
  return source.type === 'base64'
    ? { type: 'input_audio', input_audio: { data: source.data, format: audioFormat(source.mediaType) } }
    : undefined;
}

function audioFormat(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1);
  return AUDIO_FORMAT_OF_SUBTYPE.get(subtype) ?? subtype;
}
