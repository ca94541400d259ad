import type { Explanation } from '../../api/explain.ts';

/** In words: which endpoint moved, came or went, and what the first choice costs now. */
export function differencesOf(before: Explanation, after: Explanation): readonly string[] {
  const [from, to] = [placesOf(before), placesOf(after)];
  const changes = [...new Set([...from.keys(), ...to.keys()])].flatMap((endpoint) => {
    const [was, is] = [from.get(endpoint), to.get(endpoint)];
    if (was === is) return [];
    if (is === undefined) return [`${endpoint}: from place ${was} to out`];
    return [was === undefined ? `${endpoint}: in, at place ${is}` : `${endpoint}: from place ${was} to ${is}`];
  });
  return changes.length === 0 ? ['Nothing: the same endpoints in the same order.'] : changes;
}

function placesOf({ candidates }: Explanation): ReadonlyMap<string, number> {
  return new Map(candidates.map(({ tag, model }, at) => [`${tag} (${model})`, at + 1]));
}
