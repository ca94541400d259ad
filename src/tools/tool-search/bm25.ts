/** How fast further occurrences of a word count for less, and how much a long text counts for less: the usual values. */
const K1 = 1.2;
const B = 0.75;
/** A word of the name says more than one of the description. */
const NAME_WEIGHT = 3;

export interface RankedText {
  readonly name: string;
  /** The name and all else that is said. */
  readonly text: string;
}

export interface Ranking {
  /** Indexes of the texts that have a word of the query, the best first; among equals in their order. */
  find(query: string): readonly number[];
}

/**
 * Okapi BM25 over few short texts (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the inverse
 * document frequency that is never negative.
 */
export function createRanking(texts: readonly RankedText[]): Ranking {
  const documents = texts.map(({ name, text }) => countWords(name, text));
  const lengths = documents.map((counts) => sum(counts.values()));
  const meanLength = Math.max(1, sum(lengths) / Math.max(1, lengths.length));
  const holders = new Map<string, number>();
  for (const counts of documents) for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  return {
    find(query) {
      const words = [...new Set(wordsOf(query))].filter((word) => holders.has(word));
      const scores = documents.map((counts, at) => {
        const norm = K1 * (1 - B + (B * (lengths[at] ?? 0)) / meanLength);
        return sum(
          words.map((word) => {
            const count = counts.get(word) ?? 0;
            const held = holders.get(word) ?? 0;
            const rarity = Math.log(1 + (documents.length - held + 0.5) / (held + 0.5));
            return (rarity * count * (K1 + 1)) / (count + norm);
          }),
        );
      });
      return scores
        .map((score, at) => ({ score, at }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score || left.at - right.at)
        .map(({ at }) => at);
    },
  };
}

function countWords(name: string, text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (word: string, weight: number): void => void counts.set(word, (counts.get(word) ?? 0) + weight);
  for (const word of wordsOf(text)) add(word, 1);
  for (const word of wordsOf(name)) add(word, NAME_WEIGHT - 1);
  return counts;
}

/** `getWeather_data` is three words. A plural counts as its singular. */
function wordsOf(text: string): readonly string[] {
  const apart = text.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ').toLowerCase();
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word,
  );
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
