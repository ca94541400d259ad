import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundPage } from './abilities.ts';

const SECTION_CHARS_MAX = 4_000;
const SECTIONS_MAX = 5_000;
const WORDS_MAX = 20;
/** A word in a heading counts as much as so many words of the text that are there often. */
const HEADING_WEIGHT = 1;
/** How soon further occurrences of a word count no more, and how much long sections are held back: those of BM25. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

interface Section extends FoundPage {
  readonly words: ReadonlyMap<string, number>;
  readonly headingWords: ReadonlySet<string>;
  readonly length: number;
}

/**
 * Full text over the pages of documentation in a folder, by section. They are read with the first search.
 * `undefined`: the folder is not there.
 */
export function createDocsSearch(folder: string): ((query: string, limit: number) => readonly FoundPage[]) | undefined {
  const pages = listPages(folder);
  if (pages.length === 0) return undefined;
  let sections: readonly Section[] | undefined;
  return (query, limit) => {
    sections ??= pages
      .flatMap((page) => sectionsOf(page, readFileSync(join(folder, page), 'utf8')))
      .slice(0, SECTIONS_MAX);
    const wanted = [...new Set(wordsOf(query))].slice(0, WORDS_MAX);
    const rare = new Map(wanted.map((word) => [word, rarityOf(word, sections ?? [])]));
    const usual = sections.reduce((sum, { length }) => sum + length, 0) / Math.max(1, sections.length);
    return sections
      .map((section) => ({ section, score: scoreOf(section, rare, usual) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ section: { page, heading, text } }) => ({ page, heading, text }));
  };
}

function listPages(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.md'));
  } catch {
    return [];
  }
}

function sectionsOf(page: string, text: string): readonly Section[] {
  return text.split(/^(?=#{1,3} )/m).flatMap((part) => {
    const heading = /^#{1,3} (.*)/.exec(part)?.[1] ?? page;
    const cut = part.trim().slice(0, SECTION_CHARS_MAX);
    if (cut === '') return [];
    const words = new Map<string, number>();
    const all = wordsOf(cut);
    for (const word of all) words.set(word, (words.get(word) ?? 0) + 1);
    return [{ page, heading, text: cut, words, headingWords: new Set(wordsOf(heading)), length: all.length }];
  });
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}

function rarityOf(word: string, sections: readonly Section[]): number {
  const count = sections.filter(({ words }) => words.has(word)).length;
  return count === 0 ? 0 : Math.log(1 + sections.length / count);
}

function scoreOf(
  { words, headingWords, length }: Section,
  rare: ReadonlyMap<string, number>,
  usualLength: number,
): number {
  const held = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / usualLength);
  let score = 0;
  for (const [word, rarity] of rare) {
    const count = words.get(word) ?? 0;
    score += rarity * ((count * (SATURATION + 1)) / (count + held) + (headingWords.has(word) ? HEADING_WEIGHT : 0));
  }
  return score;
}
