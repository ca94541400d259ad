import type { GenerationRequest } from './request.ts';

/**
 * Whether the turns hold nothing but texts, reasoning and calls, as most do: then there is no file in them to be found,
 * fetched or counted.
 */
export function isTextOnly({ turns }: Pick<GenerationRequest, 'turns'>): boolean {
  for (const { blocks } of turns)
    for (const { type } of blocks) if (type === 'media' || type === 'tool-result' || type === 'opaque') return false;
  return true;
}
