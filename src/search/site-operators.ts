import type { SiteRule } from '../canonical/tools/site-rules.ts';
import { truncateAtWord } from '../lib/text/truncate.ts';
import type { EngineQuery } from './contract.ts';

/** How long a question may be, with its operators. */
export interface QueryRoom {
  readonly charsMax: number;
  readonly wordsMax?: number;
}

/**
 * The question with its sites as the operators of search engines: `site:` and `-site:`. Pages to include take up to half of
 * the room from the words, since a search elsewhere finds nothing that counts; those sites for which there is no room are seen
 * to in what was found.
 */
export function withSites({ text, includeSites, excludeSites }: EngineQuery, room: QueryRoom): string {
  const sites = includeSites.map(formatSite);
  const formatted = sites.length > 1 ? `(${sites.join(' OR ')})` : sites.join('');
  const wanted = fits(formatted, halfOf(room)) ? formatted : '';
  const { charsMax, wordsMax = Number.POSITIVE_INFINITY } = room;
  const words = cutWords(truncateAtWord(text, charsMax - wanted.length - 1), wordsMax - countWords(wanted));
  let query = `${words} ${wanted}`.trimEnd();
  for (const host of wholeHosts(excludeSites)) {
    const further = `${query} -site:${host}`;
    if (fits(further, room)) query = further;
  }
  return query;
}

function halfOf({ charsMax, wordsMax }: QueryRoom): QueryRoom {
  return { charsMax: charsMax / 2, ...(wordsMax !== undefined && { wordsMax: wordsMax / 2 }) };
}

function fits(query: string, { charsMax, wordsMax = Number.POSITIVE_INFINITY }: QueryRoom): boolean {
  return query.length <= charsMax && countWords(query) <= wordsMax;
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

function cutWords(text: string, wordsMax: number): string {
  return countWords(text) <= wordsMax ? text : (text.match(/\S+/g) ?? []).slice(0, wordsMax).join(' ');
}

function formatSite({ host, path }: SiteRule): string {
  return `site:${host}${path}`;
}

/** Those of the hosts that an engine can leave out which knows neither wildcards nor paths; it must not leave out more. */
export function wholeHosts(rules: readonly SiteRule[]): readonly string[] {
  return rules.filter(({ isBelow, path }) => !isBelow && path === '').map(({ host }) => host);
}
