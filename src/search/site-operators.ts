import type { SiteRule } from '../canonical/site-rules.ts';
import type { EngineQuery } from './contract.ts';

/**
 * The question with its sites as the operators of search engines: `site:` and `-site:`. Those for which there is no room are
 * seen to in what was found.
 */
export function withSites({ text, includeSites, excludeSites }: EngineQuery, charsMax: number): string {
  const sites = includeSites.map(drawSite);
  const wanted = sites.length > 1 ? `(${sites.join(' OR ')})` : sites.join('');
  let query = `${text} ${wanted}`.trimEnd();
  if (query.length > charsMax) query = text;
  for (const host of wholeHosts(excludeSites)) {
    const further = `${query} -site:${host}`;
    if (further.length <= charsMax) query = further;
  }
  return query;
}

function drawSite({ host, path }: SiteRule): string {
  return `site:${host}${path}`;
}

/** Those of the hosts that an engine can leave out which knows neither wildcards nor paths; it must not leave out more. */
export function wholeHosts(rules: readonly SiteRule[]): readonly string[] {
  return rules.filter(({ isBelow, path }) => !isBelow && path === '').map(({ host }) => host);
}
