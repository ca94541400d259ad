import type { Block } from './blocks.ts';
import type { GenerationRequest } from './request.ts';

/** Media that callers sent, results of their tools included: answers of the model that came back do not count. */
export function countPromptMedia({ turns }: Pick<GenerationRequest, 'turns'>): {
  /** Of every kind. */
  readonly all: number;
  readonly audio: number;
} {
  let all = 0;
  let audio = 0;
  const count = (blocks: readonly Block[]): void => {
    for (const block of blocks) {
      if (block.type === 'tool-result') count(block.content);
      if (block.type !== 'media') continue;
      all++;
      if (block.media === 'audio') audio++;
    }
  };
  for (const turn of turns) if (turn.role !== 'assistant') count(turn.blocks);
  return { all, audio };
}
