import { truncateAtWord } from '../../lib/text/truncate.ts';

/** An answer under the name of the model that gave it. */
export interface NamedAnswer {
  readonly model: string;
  readonly content: string;
}

/** So much text fits any model that can use tools, UTF-16 units. */
const SMALL_CHARS = 40_000;
/** When the context of a model is unknown, in tokens. */
const CONTEXT_TOKENS_DEFAULT = 128_000;
/** Of what a model reads: the rest is for the conversation and its own answer. */
const CONTEXT_SHARE = 0.5;
/** Fewer than of most texts, so that other tongues fit, too. */
const CHARS_PER_TOKEN = 3;
const CUT = ' [...]';

/**
 * The answers, cut to what one model can read: if they are too long together, the longest are cut, and short ones stay
 * whole.
 * @param contextTokens its context, computed only if needed; `undefined`: unknown
 */
export function fitAnswers(
  answers: readonly NamedAnswer[],
  contextTokens: () => number | undefined,
): readonly NamedAnswer[] {
  const total = answers.reduce((sum, { content }) => sum + content.length, 0);
  if (total <= SMALL_CHARS) return answers;
  const room = (contextTokens() ?? CONTEXT_TOKENS_DEFAULT) * CONTEXT_SHARE * CHARS_PER_TOKEN;
  if (total <= room) return answers;
  const charsMax = evenShare(
    answers.map(({ content }) => content.length),
    room,
  );
  return answers.map(({ model, content }) =>
    content.length <= charsMax ? { model, content } : { model, content: truncateAtWord(content, charsMax) + CUT },
  );
}

/** The length to cut to: what short texts leave over goes to the long ones. */
function evenShare(lengths: readonly number[], room: number): number {
  let left = room;
  const sorted = lengths.toSorted((one, other) => one - other);
  for (const [at, length] of sorted.entries()) {
    const share = left / (sorted.length - at);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Infinity;
}
