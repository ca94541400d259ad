import type { MediaBlock } from '../canonical/blocks.ts';
import type { LocatedBlock } from './gateway/source/source-positions.ts';
import { invalid, type GatewayError } from '../canonical/gateway-error.ts';

/**
 * The error for a file of the caller that cannot be sent to the provider. A response about a file that the model cannot
 * see would be made up, so the request is refused: another endpoint may accept the file.
 * @param what the file as the beginning of a sentence about its path: `is a video`
 */
export function unsupportedMedia(path: string, what: string): GatewayError {
  return invalid(path, `${what}, which the provider of the model cannot read`, 'invalid_prompt');
}

/**
 * A file of the caller that stands in instructions, where the format takes text alone.
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
