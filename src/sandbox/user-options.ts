/** Settings of the sandbox's models in a user text, as `name=number` anywhere in it. */
export interface UserOptions {
  /** Tokens of `long`. */
  readonly tokens: number;
  /** Pause between tokens, ms. */
  readonly everyMs: number;
  /** Wait before the first token, ms. */
  readonly firstTokenMs: number;
  /** Tokens before the connection is cut, falls silent, or fails; absent: the model's own moment. */
  readonly faultAfterTokens: number | undefined;
}

const PAUSE_MS_MAX = 600_000;
/** So that every number is one token of at most four digits. */
const COUNT_TOKENS_MAX = 9_999;
/** Options stand at the ends of a text; one that is pasted in between does not count. */
const TEXT_CHARS_MAX = 2_000;

interface Defaults {
  readonly everyMs: number;
  readonly firstTokenMs: number;
}

/** Reads `tokens=200 every=20 ms=500 after=3` out of a user text; a number out of range is cut to it. */
export function readUserOptions(userText: string, defaults: Defaults): UserOptions {
  const text =
    userText.length <= 2 * TEXT_CHARS_MAX
      ? userText
      : `${userText.slice(0, TEXT_CHARS_MAX)} ${userText.slice(-TEXT_CHARS_MAX)}`;
  const found = new Map<string, number>();
  for (const [, name, digits] of text.matchAll(/(?<![\w=])(tokens|every|ms|after)=(\d{1,9})(?![\w=])/g))
    if (name !== undefined && !found.has(name)) found.set(name, Number(digits));
  return {
    tokens: Math.min(found.get('tokens') ?? 200, COUNT_TOKENS_MAX),
    everyMs: Math.min(found.get('every') ?? defaults.everyMs, PAUSE_MS_MAX),
    firstTokenMs: Math.min(found.get('ms') ?? defaults.firstTokenMs, PAUSE_MS_MAX),
    faultAfterTokens: found.get('after'),
  };
}
