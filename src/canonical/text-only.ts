import type { Block } from './blocks.ts';
import type { GenerationRequest, Turn } from './request.ts';

/** Turns never change, and several steps want to know. */
const known = new WeakMap<readonly Turn[], boolean>();

/**
 * Whether the turns hold nothing but texts, reasoning and calls, as most do: then there is no file in them to be found,
 * fetched or counted.
 */
export function isTextOnly({ turns }: Pick<GenerationRequest, 'turns'>): boolean {
  let isOnly = known.get(turns);
  if (isOnly === undefined) {
    isOnly = !turns.some(({ blocks }) => blocks.some(mayHoldMore));
    known.set(turns, isOnly);
  }
  return isOnly;
}

function mayHoldMore({ type }: Block): boolean {
  return type === 'media' || type === 'tool-result' || type === 'opaque';
}
