import { nearestName } from '../lib/text/nearest-name.ts';
import { knownSlugs, type KnownSlug } from './known-slugs.ts';
import type { Endpoint, Model } from './model.ts';

/** What callers may call models beside their slugs. */
export interface NameRules {
  /** From a name to the slug that it stands for. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Whether a name without an author means the one model that is called so. */
  readonly resolvesBareNames: boolean;
}

/** What of a model its names depend on. */
export interface NamedModel extends Pick<Model, 'slug' | 'canonicalSlug' | 'simulated'> {
  readonly endpoints: readonly Pick<Endpoint, 'provider' | 'upstreamModel' | 'lacksCredentials'>[];
}

export interface ModelNames {
  /** The slug that a name stands for; the name itself where it stands for none. */
  rename(name: string): string;
  /** Slugs that a name without an author may mean, those that are served here first. */
  suggest(name: string): readonly string[];
}

const SUGGESTIONS_MAX = 5;
const NAME_CHARS_MAX = 256;

/** Names are looked up in an index that is made when one is first needed. */
export function createModelNames(models: readonly NamedModel[], { aliases, resolvesBareNames }: NameRules): ModelNames {
  const standIns = new Map(Object.entries(aliases));
  let served: Index | undefined;

  function find(name: string): readonly string[] {
    served ??= indexOf(models.filter(isServed));
    return [...(served.get(normalized(name)) ?? [])];
  }

  function renamed(name: string): string | undefined {
    const target = standIns.get(name);
    if (target !== undefined) return target;
    if (!resolvesBareNames || name.includes('/') || name.length > NAME_CHARS_MAX) return undefined;
    const [only, ...more] = find(name);
    return more.length === 0 ? only : undefined;
  }

  return {
    rename(name) {
      if (standIns.size === 0 && !resolvesBareNames) return name;
      const whole = renamed(name);
      if (whole !== undefined) return whole;
      const at = name.indexOf(':');
      const base = at < 0 ? undefined : renamed(name.slice(0, at));
      return base === undefined ? name : base + name.slice(at);
    },
    suggest(name) {
      if (name.length > NAME_CHARS_MAX) return [];
      const bare = name.split(':')[0] ?? name;
      const exact = new Set([...find(bare), ...(indexOf(knownSlugs()).get(normalized(bare)) ?? [])]);
      if (exact.size > 0) return [...exact].slice(0, SUGGESTIONS_MAX);
      const slugs = new Map(models.map(({ slug }) => [partOf(slug), slug]));
      const near = nearestName(bare, slugs.keys());
      const slug = near === undefined ? undefined : slugs.get(near);
      return slug === undefined ? [] : [slug];
    },
  };
}

/** It has an endpoint with credentials of the gateway. */
function isServed({ endpoints, simulated }: NamedModel): boolean {
  return simulated !== true && endpoints.some(({ lacksCredentials }) => lacksCredentials !== true);
}

type Index = ReadonlyMap<string, ReadonlySet<string>>;

function indexOf(models: readonly KnownSlug[]): Index {
  const index = new Map<string, Set<string>>();
  for (const { slug, canonicalSlug, endpoints } of models) {
    const names = [partOf(slug), ...(canonicalSlug === undefined ? [] : [partOf(canonicalSlug)])];
    for (const name of [...names, ...endpoints.map(({ upstreamModel }) => upstreamModel)]) {
      const key = normalized(name);
      const slugs = index.get(key);
      if (slugs === undefined) index.set(key, new Set([slug]));
      else slugs.add(slug);
    }
  }
  return index;
}

function partOf(slug: string): string {
  return slug.slice(slug.indexOf('/') + 1);
}

/** Vendors write `claude-haiku-4-5` where lists write `claude-haiku-4.5`. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll('.', '-');
}
