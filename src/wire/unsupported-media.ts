import type { MediaBlock } from '../canonical/blocks.ts';
import type { LocatedBlock } from './source-positions.ts';
import { invalid, type GatewayError } from '../canonical/gateway-error.ts';

/**
 * A file of the caller that the provider cannot be sent. A response about a file that nobody read would be made up, so
 * none is asked for: another endpoint may have the words.
 * @param what the file as the beginning of a sentence about its path: `is a video`
 */
export function unsupportedMedia(path: string, what: string): GatewayError {
  return invalid(path, `${what}, which the provider of the model cannot read`, 'invalid_prompt');
}

/**
 * A file of the caller that stands in instructions, where the wire takes text alone.
 * @throws GatewayError 400 for one that is more than text
 */
export function refuseMediaInInstructions(blocks: readonly LocatedBlock[]): void {
  for (const { block, path } of blocks)
    if (block.type === 'media' && block.source.type !== 'text' && block.source.type !== 'blocks')
      throw unsupportedMedia(path, `is ${MEDIUM_NAMES[block.media]} in instructions`);
}

/** A medium as part of a sentence. */
export const MEDIUM_NAMES = {
  image: 'an image',
  document: 'a document',
  audio: 'audio',
  video: 'a video',
} as const satisfies Record<MediaBlock['media'], string>;
