/** The result of one more chunk of a text that should continue a delivered one. */
export type Joint =
  /** It is not known yet whether the two fit: the chunk is kept. */
  | { readonly type: 'held' }
  /** They fit. `text` comes after the delivered text, and every later chunk follows unchanged. */
  | { readonly type: 'joined'; readonly text: string }
  /**
   * They do not fit, or that cannot be decided within the bounds.
   * @param isUnclear the text begins with the delivered one, which may be a repetition or a continuation
   */
  | { readonly type: 'apart'; readonly isUnclear?: true };

/** Finds the place in an arriving text where it goes beyond what the caller has. */
export interface Splice {
  /** Not to be called again after an answer other than `held`. */
  push(text: string): Joint;
  /** Runs when the text has ended, or something other than text follows. Never returns `held`. */
  end(): Joint;
}

const HELD: Joint = { type: 'held' };
const APART: Joint = { type: 'apart' };
const UNCLEAR: Joint = { type: 'apart', isUnclear: true };

/** The least length of an end that is matched, UTF-16 units: some ten words, which no model repeats by chance. */
const OVERLAP_CHARS_MIN = 64;
/** The greatest length, up to which it grows until it appears in the delivered text only once. */
const OVERLAP_CHARS_MAX = 1_024;
/** How much of the other text is searched: twice as much as was delivered, and this. */
const SEARCH_CHARS_MORE = 2_000;

/**
 * Splices a restarted text. It fits where it begins with all of the delivered text, or else repeats its end word for word:
 * an end that appears in the delivered text only once, so that nothing before it is delivered twice.
 * @param exact accepts only the first of the two: text after the same words elsewhere would break a structure
 */
export function spliceRestart(delivered: string, { exact }: { readonly exact: boolean }): Splice {
  let matched = 0;
  let search: Splice['push'] | undefined;
  return {
    push(text) {
      if (search !== undefined) return search(text);
      const rest = delivered.length - matched;
      if (delivered.startsWith(text.slice(0, rest), matched)) {
        matched += text.length;
        return matched < delivered.length ? HELD : { type: 'joined', text: text.slice(rest) };
      }
      if (exact) return APART;
      search = searchEnding(delivered, matched);
      return search(text);
    },
    end: () => (delivered === '' ? { type: 'joined', text: '' } : APART),
  };
}

/** Keeps only as much of a text as it needs. @param matched how much of the delivered text was repeated already */
function searchEnding(delivered: string, matched: number): Splice['push'] {
  const ending = uniqueEnding(delivered);
  if (ending === undefined) return () => APART;
  const keptChars = ending.length - 1;
  let left = 2 * delivered.length + SEARCH_CHARS_MORE - matched;
  let kept = delivered.slice(Math.max(0, matched - keptChars), matched);
  return (text) => {
    const seen = kept + text;
    const at = seen.indexOf(ending);
    if (at >= 0) return { type: 'joined', text: seen.slice(at + ending.length) };
    kept = seen.slice(-keptChars);
    left -= text.length;
    return left < 0 ? APART : HELD;
  };
}

/** `undefined` where the text is too short, or repeats itself down to its end. */
function uniqueEnding(text: string): string | undefined {
  for (let chars = OVERLAP_CHARS_MIN; chars <= Math.min(OVERLAP_CHARS_MAX, text.length); chars *= 2) {
    const ending = text.slice(-chars);
    if (text.indexOf(ending) === text.length - chars) return ending;
  }
  return undefined;
}

/** A text that begins with so much of what was delivered, or with all of it, repeats it. */
const REPEAT_CHARS_MIN = 8;
const REPEAT_CHARS_MAX = 64;
/** A shorter text, and one of the same few characters over and over, may continue with itself: `No`, `ha ha ha`, `----`. */
const PERIOD_CHARS_MAX = 16;

/**
 * For a text that a model wrote after it was given the delivered one without the white space at its end, which vendors
 * refuse. White space that it begins with in place of that is not said twice. Where a host says what it was given before
 * it goes on, that is left out; where it may be that or the continuation itself, the two are `apart`.
 */
export function spliceContinuation(delivered: string): Splice {
  const sent = delivered.trimEnd();
  const gap = delivered.slice(sent.length);
  const repeatChars = Math.min(sent.length, REPEAT_CHARS_MAX);
  let mayRepeat = repeatChars > 0;
  let repeating: Splice | undefined;
  let continued = '';

  function takeRepeat(text: string): Joint {
    repeating ??= spliceRestart(sent, { exact: true });
    const joint = repeating.push(text);
    if (joint.type !== 'joined') return joint;
    repeating = undefined;
    mayRepeat = false;
    continued = joint.text;
    return takeGap();
  }

  function takeGap(): Joint {
    return continued.length < gap.length && gap.startsWith(continued)
      ? HELD
      : { type: 'joined', text: continued.slice(shared(gap, continued)) };
  }

  return {
    push(text) {
      if (repeating !== undefined) return takeRepeat(text);
      continued += text;
      if (!mayRepeat || !sent.startsWith(continued.slice(0, repeatChars))) return takeGap();
      if (continued.length < repeatChars) return HELD;
      return isTelling(sent) ? takeRepeat(continued) : UNCLEAR;
    },
    end: () => (repeating === undefined ? { type: 'joined', text: continued.slice(shared(gap, continued)) } : APART),
  };
}

/** Returns whether a text that begins with this one surely repeats it. */
function isTelling(text: string): boolean {
  if (text.length < REPEAT_CHARS_MIN) return false;
  for (let period = 1; period <= Math.min(PERIOD_CHARS_MAX, text.length / 2); period++)
    if (text.startsWith(text.slice(period))) return false;
  return true;
}

/** Counts the characters that two texts have in common at their beginning. */
function shared(left: string, right: string): number {
  let chars = 0;
  while (chars < left.length && left[chars] === right[chars]) chars++;
  return chars;
}
