import type { TranscriptSegment, TranscriptWord } from './transcript.ts';

/** Numbers speakers from 0 in the order in which they speak. A class because it lives as long as its transcript. */
export class Speakers {
  readonly #numbers = new Map<string, number>();

  of(name: unknown): { readonly speaker?: number } {
    if (typeof name !== 'string') return {};
    const speaker = this.#numbers.get(name) ?? this.#numbers.size;
    this.#numbers.set(name, speaker);
    return { speaker };
  }
}

/** A sentence of one speaker each: it begins with its first word, and ends with its last one. */
export function sentencesOf(words: readonly TranscriptWord[]): readonly TranscriptSegment[] {
  const segments: TranscriptSegment[] = [];
  let open: TranscriptWord[] = [];
  const close = (): void => {
    const [first] = open;
    const last = open.at(-1);
    if (first === undefined || last === undefined) return;
    const { start, speaker } = first;
    const text = open.map(({ word }) => word).join(' ');
    segments.push({ start, end: last.end, text, ...(speaker !== undefined && { speaker }) });
    open = [];
  };
  for (const word of words) {
    if (open.length > 0 && open[0]?.speaker !== word.speaker) close();
    open.push(word);
    if (/[.!?。！？]["')\]]?$/.test(word.word)) close();
  }
  close();
  return segments;
}
