import type { Block } from '../canonical/blocks.ts';
import type { Warnings } from './gateway/warnings.ts';
import { nameOf } from './json-fields.ts';

/** Warns of a block that has no place in the provider's format where it stands. */
export function warnOfUnsupportedBlock(block: Block, path: string, warn: Warnings['add']): void {
  warn('content-dropped', path, `the provider's format has no block of type ${typeOfBlock(block)} here`);
}

/** A block's type as its own format names it; of a file, what it is. */
export function typeOfBlock(block: Block): string {
  if (block.type === 'opaque') return nameOf(block.value['type']);
  return block.type === 'media' ? block.media : block.type;
}
