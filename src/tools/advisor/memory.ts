import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';

/** One call of an advisor, and its advice. */
export interface Advice {
  readonly prompt: string;
  readonly advice: string;
}

/**
 * Earlier prompts of an advisor and its advice, oldest first, as the conversation contains them.
 * @param name of the function that stands for the advisor
 * @spec tool-35
 */
export function earlierAdvice(turns: readonly Turn[], name: string): readonly Advice[] {
  const blocks = turns.flatMap((turn) => turn.blocks);
  const results = new Map(
    blocks.flatMap((block) => (block.type === 'tool-result' ? [[block.callId, textOf(block.content)] as const] : [])),
  );
  return blocks.flatMap((block) => {
    if (block.type !== 'tool-call' || block.name !== name) return [];
    const prompt = memberOf(block.input, 'prompt');
    const advice = memberOf(results.get(block.id) ?? '', 'advice');
    return prompt === undefined || advice === undefined ? [] : [{ prompt, advice }];
  });
}

/** As many as fit, without those in the middle: how it began and what came last say the most. */
export function middleOut(memory: readonly Advice[], charsMax: number): readonly Advice[] {
  const kept = [...memory];
  let chars = charsOf(kept);
  while (chars > charsMax) {
    const [left] = kept.splice(Math.floor((kept.length - 1) / 2), 1);
    chars -= left === undefined ? chars : charsOf([left]);
  }
  return kept;
}

export function charsOf(memory: readonly Advice[]): number {
  return memory.reduce((sum, { prompt, advice }) => sum + prompt.length + advice.length, 0);
}

function textOf(content: readonly Block[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function memberOf(text: string, member: string): string | undefined {
  const value = parseJson(text);
  const found = isJsonObject(value) ? value[member] : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}
