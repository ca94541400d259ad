import type { Block } from '../../../canonical/blocks.ts';
import { gapBeforeText } from '../../../canonical/text-gap.ts';

/** Texts longer than this are not kept: their sources are reported without positions. */
const CHARS_MAX = 4 * 1024 * 1024;
/** Quotes that are looked for in vain, before no more is looked for. */
const MISSES_MAX = 50;

/** One text block of the response. */
interface Span {
  readonly block: number;
  /** Where it begins in the vendor's text, and in the response as callers read it. Characters. */
  readonly stated: number;
  readonly start: number;
}

/** A stretch of the response as callers read it. */
export interface Stretch {
  readonly block: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The text of a response as far as it has come, for sources that name places in it by the byte: the vendor counts bytes of
 * UTF-8 in all of its text so far, callers count characters in a text that has gaps where something else stood between.
 * @source the vendor's reference of `Segment`, read 2026-11; checked with a recording of 2025-09
 */
export class TextPositions {
  readonly #spans: Span[] = [];
  #text = '';
  /** Length as callers read it. */
  #length = 0;
  #isWhole = true;

  /** A text block begins. @param previous the block before it */
  begin(block: number, previous: Block | undefined): void {
    this.#length += gapBeforeText('gemini', previous, this.#length).length;
    this.#spans.push({ block, stated: this.#text.length, start: this.#length });
  }

  add(text: string): void {
    this.#length += text.length;
    if (this.#text.length + text.length > CHARS_MAX) this.#isWhole = false;
    if (this.#isWhole) this.#text += text;
  }

  /**
   * Stretches for byte ranges, in their order; `undefined` for one that is not there. Where the quoted text differs from
   * what stands at its place, it is looked for, because hosts count in other ways.
   */
  find(
    ranges: readonly { readonly from: number; readonly to: number; readonly quote?: string }[],
  ): readonly (Stretch | undefined)[] {
    if (!this.#isWhole) return ranges.map(() => undefined);
    const chars = charOffsets(
      this.#text,
      ranges.flatMap(({ from, to }) => [from, to]),
    );
    let searched = 0;
    let misses = 0;
    return ranges.map(({ quote }, at) => {
      const from = chars[2 * at] ?? 0;
      const to = chars[2 * at + 1] ?? 0;
      if (quote === undefined || this.#text.slice(from, to) === quote) return this.#stretch(from, to);
      if (quote === '' || misses >= MISSES_MAX) return undefined;
      const found = this.#text.indexOf(quote, searched);
      if (found < 0) {
        misses += 1;
        return undefined;
      }
      searched = found;
      return this.#stretch(found, found + quote.length);
    });
  }

  #stretch(from: number, to: number): Stretch | undefined {
    const span = this.#spans.findLast(({ stated }) => stated <= from);
    if (span === undefined || to <= from) return undefined;
    return { block: span.block, start: from - span.stated + span.start, end: to - span.stated + span.start };
  }
}

/** Characters before each of these byte offsets of the UTF-8 form of a text, in one pass. */
function charOffsets(text: string, bytes: readonly number[]): readonly number[] {
  const order = bytes.map((_, at) => at).toSorted((a, b) => (bytes[a] ?? 0) - (bytes[b] ?? 0));
  const chars: number[] = [];
  let at = 0;
  let passed = 0;
  for (const index of order) {
    const wanted = bytes[index] ?? 0;
    while (passed < wanted && at < text.length) {
      const code = text.codePointAt(at) ?? 0;
      passed += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      at += code < 0x10000 ? 1 : 2;
    }
    chars[index] = at;
  }
  return chars;
}
