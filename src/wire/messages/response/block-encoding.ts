import type { Block } from '../../../canonical/blocks.ts';
import { unreachable } from '../../../lib/assert.ts';

/** What a block of a response becomes. `silent`: the format cannot express it. */
export type Encoding = 'text' | 'thinking' | 'redacted' | 'call' | 'opaque' | 'silent';

/** @param native the upstream spoke this format */
export function encodingOf(block: Block, native: boolean): Encoding {
  switch (block.type) {
    case 'text':
      return 'text';
    case 'refusal':
      // A vendor's own refusal stands in stop_details; other formats put it where the text would be.
      return native ? 'silent' : 'text';
    case 'reasoning':
      return block.form === 'encrypted' ? 'redacted' : 'thinking';
    case 'tool-call':
      return 'call';
    case 'opaque':
      return block.format === 'messages' ? 'opaque' : 'silent';
    // The format has no images, no sound and no results of the caller's tools in a response.
    case 'media':
    case 'tool-result':
      return 'silent';
    default:
      return unreachable(block);
  }
}
