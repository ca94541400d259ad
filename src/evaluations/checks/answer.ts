import type { FinishReason } from '../../canonical/events.ts';
import type { GenerationResponse } from '../../canonical/response.ts';

/** What a model answered, as checks see it. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: string }[];
  readonly finish: FinishReason;
  readonly refused: boolean;
}

export function answerOf({ blocks, end }: Pick<GenerationResponse, 'blocks' | 'end'>): Answer {
  return {
    text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    calls: blocks.flatMap((block) =>
      block.type === 'tool-call' && block.runBy === 'caller' ? [{ name: block.name, input: block.input }] : [],
    ),
    finish: end?.finish ?? 'unknown',
    refused: end?.finish === 'content_filter' || blocks.some(({ type }) => type === 'refusal'),
  };
}
