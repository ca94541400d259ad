import type { GenerationRequest } from '../../canonical/request.ts';

/** Pictures that the caller sent, for prices by the piece. */
export function countPromptImages({ turns }: GenerationRequest): number {
  let images = 0;
  for (const turn of turns)
    if (turn.role !== 'assistant')
      for (const block of turn.blocks) if (block.type === 'media' && block.media === 'image') images++;
  return images;
}
