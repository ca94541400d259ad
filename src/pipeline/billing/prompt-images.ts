import { mediaOfInputs } from '../../canonical/media/embeddings-input.ts';
import { isOperation, type ModelRequest } from '../../canonical/operation.ts';

/** Pictures that the caller sent, for prices by the piece. Models that make pictures have prices of their own for what they read. */
export function countPromptImages(request: ModelRequest): number {
  if (isOperation(request))
    return request.kind === 'embeddings'
      ? mediaOfInputs(request.inputs).filter(({ media }) => media === 'image').length
      : 0;
  let images = 0;
  for (const turn of request.turns)
    if (turn.role !== 'assistant')
      for (const block of turn.blocks) if (block.type === 'media' && block.media === 'image') images++;
  return images;
}
