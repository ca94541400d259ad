import type { MediaBlock } from '../canonical/blocks.ts';
import { invalid, type GatewayError } from '../canonical/gateway-error.ts';

/**
 * A file of the caller that the provider cannot be sent. An answer about a file that nobody read would be made up, so
 * none is asked for: another endpoint may have the words.
 * @param what the file as the beginning of a sentence about its path: `is a video`
 */
export function unreadableMedia(path: string, what: string): GatewayError {
  return invalid(path, `${what}, which the provider of the model cannot read`, 'invalid_prompt');
}

/** A medium as part of a sentence. */
export const MEDIUM_WORDS = {
  image: 'an image',
  document: 'a document',
  audio: 'audio',
  video: 'a video',
} as const satisfies Record<MediaBlock['media'], string>;
