import type { TextBlock } from '../../canonical/blocks.ts';
import { estimateTurnTokens } from '../../canonical/estimate-tokens.ts';
import type { Turn } from '../../canonical/request.ts';

/** Less than this of a text says too little to be worth its place. */
const CUT_TOKENS_MIN = 64;
const MARK = '\n[...]\n';
/** Each try leaves out a tenth more: an estimate counts bytes, a text is cut at characters. */
const TRIES_MAX = 16;

/** A turn of nothing but text, without the middle of its longest text. `undefined`: it cannot be made to fit. */
export function cutTurn(turn: Turn, tokensMax: number): Turn | undefined {
  if (tokensMax < CUT_TOKENS_MIN) return undefined;
  const texts = turn.blocks.filter((block) => block.type === 'text');
  const [first, ...others] = texts;
  if (first === undefined || texts.length < turn.blocks.length) return undefined;
  const longest = others.reduce((left, right) => (right.text.length > left.text.length ? right : left), first);
  let share = tokensMax / estimateTurnTokens(turn);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const text = withoutMiddle(longest.text, Math.floor(longest.text.length * share));
    const cut = { ...turn, blocks: texts.map((block) => (block === longest ? withText(block, text) : block)) };
    if (estimateTurnTokens(cut) <= tokensMax) return cut;
    share *= 0.9;
  }
  return undefined;
}

/** Where sources stood in the text is not known any more. */
function withText({ citations: _citations, ...block }: TextBlock, text: string): TextBlock {
  return { ...block, text };
}

/** No half of a pair is left at the cut. */
function withoutMiddle(text: string, chars: number): string {
  const half = Math.max(0, Math.floor((chars - MARK.length) / 2));
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/, '');
  return head + MARK + tail;
}
