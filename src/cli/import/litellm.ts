import type { KnownSlug } from '../../catalog/known-slugs.ts';
import { FALLBACKS_MAX } from '../../config/schema/models.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { readRetries, readTimeouts } from './litellm-deployment.ts';
import { importMcpServers } from './litellm-mcp.ts';
import { importModels, noteRest, type ImportedModels } from './litellm-models.ts';
import table from './litellm-providers.json' with { type: 'json' };
import { Notes, type Note } from './notes.ts';
import { Section, unlessEmpty, withMember } from './section.ts';
import { translateText } from './values.ts';

export interface Imported {
  /** The members of our file. */
  readonly config: JsonObject;
  readonly notes: readonly Note[];
}

const STRATEGIES: Readonly<Record<string, string | null>> = table.strategies;
const REDIS_PORT = 6379;
/** Their word for "models without a list of their own". */
const ANY = '*';

/**
 * LiteLLM's `config.yaml` as the members of ours. Nothing is dropped in silence: what has no counterpart is a note.
 * @param known models of the catalog, whose slugs stand for names that mean them
 */
export function importLitellm(file: JsonObject, known: readonly KnownSlug[]): Imported {
  const notes = new Notes();
  const top = new Section('', file);
  const imported = importModels(top.list('model_list'), credentialsOf(top, notes), known, notes);
  const sections = ['router_settings', 'litellm_settings'].map((name) => top.section(name));
  const general = top.section('general_settings');
  const models = withFallbacks(imported, sections, notes);
  const { model, ...server } = readGeneral(general, imported, notes);
  const { sort, ...shared } = readShared(sections, notes);
  const config = {
    ...server,
    ...withMember(
      'defaults',
      unlessEmpty({ ...withMember('model', model), ...(sort !== undefined && { provider: { sort } }) }),
    ),
    ...shared,
    ...withMember('providers', unlessEmpty(imported.providers)),
    ...withMember('models', unlessEmpty(models)),
    ...withMember('aliases', unlessEmpty({ ...imported.aliases, ...groupAliases(sections, imported, notes) })),
    ...(imported.resolvesBareNames && { resolve_bare_names: true }),
    ...withMember('mcp_servers', unlessEmpty(importMcpServers(top.section('mcp_servers'), notes))),
  };
  for (const section of [...sections, general]) noteRest(section.path, section, notes);
  noteRest('', top, notes);
  return { config, notes: notes.list() };
}

function credentialsOf(top: Section, notes: Notes): ReadonlyMap<string, JsonObject> {
  const credentials = new Map<string, JsonObject>();
  for (const [index, item] of top.list('credential_list').entries()) {
    const entry = new Section(`credential_list[${index}]`, item);
    const [name, values] = [entry.text('credential_name'), entry.take('credential_values')];
    entry.take('credential_info');
    if (name !== undefined && isJsonObject(values)) credentials.set(name, values);
    noteRest('credential_list', entry, notes);
  }
  return credentials;
}

/** Theirs are for an error of one kind each; ours are for every failure that another model may mend. */
const FALLBACK_LISTS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const;

function withFallbacks({ models, slugs }: ImportedModels, sections: readonly Section[], notes: Notes): JsonObject {
  const found = new Map<string, string[]>();
  const defaults: string[] = [];
  const addAll = (from: string, targets: Json | undefined, path: string): void => {
    const list: readonly Json[] = Array.isArray(targets) ? targets : [];
    const named = list.map((one) => (isJsonObject(one) ? one['model'] : one)).map(String);
    const slug = slugs.get(from);
    if (from !== ANY && slug === undefined)
      return notes.add('lost', path, `model_list has no model ${JSON.stringify(from)}`);
    const into = slug === undefined ? defaults : (found.get(slug) ?? []);
    if (slug !== undefined) found.set(slug, into);
    for (const name of named) {
      const target = slugs.get(name);
      if (target === undefined) notes.add('lost', path, `model_list has no model ${JSON.stringify(name)}`);
      else if (!into.includes(target)) into.push(target);
    }
  };
  for (const section of sections) {
    for (const name of FALLBACK_LISTS)
      for (const item of section.list(name))
        for (const [from, targets] of new Section('', item).entries()) {
          addAll(from, targets, section.pathOf(name));
          if (name !== 'fallbacks')
            notes.add(
              'changed',
              section.pathOf(name),
              'one list of fallbacks holds for failures of every kind (docs/fallback.md)',
            );
        }
    addAll(ANY, section.take('default_fallbacks'), section.pathOf('default_fallbacks'));
  }
  return Object.fromEntries(
    Object.entries(models).map(([slug, model]) => {
      const list = [...(found.get(slug) ?? []), ...defaults].filter(
        (one, at, all) => one !== slug && all.indexOf(one) === at,
      );
      if (list.length > FALLBACKS_MAX)
        notes.add('lost', `fallbacks of ${slug}`, `a model has at most ${FALLBACKS_MAX} fallbacks`);
      const { endpoints, ...rest } = isJsonObject(model) ? model : {};
      const fallbacks = list.slice(0, FALLBACKS_MAX);
      return [slug, { ...rest, ...(fallbacks.length > 0 && { fallbacks }), ...withMember('endpoints', endpoints) }];
    }),
  );
}

function groupAliases(sections: readonly Section[], { slugs }: ImportedModels, notes: Notes): JsonObject {
  const aliases: Record<string, Json> = {};
  for (const section of sections) {
    for (const key of ['model_group_alias', 'model_alias_map'])
      for (const [alias, target] of section.section(key).entries()) {
        const name = isJsonObject(target) ? target['model'] : target;
        const slug = typeof name === 'string' ? slugs.get(name) : undefined;
        if (slug !== undefined) aliases[alias] = slug;
        else
          notes.add(
            'lost',
            `${section.pathOf(key)}.${alias}`,
            `model_list has no model ${JSON.stringify(name ?? null)}`,
          );
      }
  }
  return aliases;
}

function readGeneral(general: Section, { slugs }: ImportedModels, notes: Notes): JsonObject {
  const key = general.text('master_key');
  if (key !== undefined)
    notes.add(
      'lost',
      general.pathOf('master_key'),
      'start the gateway with GATEWAY_MANAGEMENT_KEY for administration and GATEWAY_API_KEY for calls; one key does not do both',
    );
  const bodyMb = general.number('max_request_size_mb');
  const concurrent = general.number('global_max_parallel_requests');
  const model = general.text('completion_model');
  return {
    ...(bodyMb !== undefined && { server: { max_body_mb: bodyMb } }),
    ...(concurrent !== undefined &&
      concurrent >= 1 && { rate_limits: { account: { concurrent: Math.trunc(concurrent) } } }),
    ...(model !== undefined && { model: slugs.get(model) ?? model }),
  };
}

/** What stands in `router_settings`, or in `litellm_settings` in its place. */
function readShared(sections: readonly Section[], notes: Notes): JsonObject {
  let [timeouts, retry, redis, sort]: (Json | undefined)[] = [];
  for (const section of sections) {
    const times = unlessEmpty({ ...requestTimeout(section), ...readTimeouts(section) });
    timeouts ??= times;
    const tries = readRetries(section, ['num_retries'], notes);
    retry ??= tries;
    const url = readRedis(section, notes);
    redis ??= url;
    const order = readStrategy(section, notes);
    sort ??= order;
  }
  return {
    ...withMember('timeouts', timeouts),
    ...withMember('retry', retry),
    ...withMember('redis_url', redis),
    ...withMember('sort', sort),
  };
}

function requestTimeout(section: Section): JsonObject {
  const seconds = section.number('request_timeout');
  return seconds === undefined ? {} : readTimeouts(new Section('', { timeout: seconds }));
}

function readRedis(section: Section, notes: Notes): string | undefined {
  const [url, host, port, password, database] = [
    'redis_url',
    'redis_host',
    'redis_port',
    'redis_password',
    'redis_db',
  ].map((name) => translateText(section.text(name)));
  if (url !== undefined) return url;
  if (host === undefined) return undefined;
  if (password !== undefined)
    notes.add(
      'changed',
      section.pathOf('redis_password'),
      'it is part of redis_url: write @ / # ? and % in it as %40 %2F %23 %3F and %25',
    );
  return `redis://${password === undefined ? '' : `:${password}@`}${host}:${port ?? REDIS_PORT}${database === undefined ? '' : `/${database}`}`;
}

function readStrategy(section: Section, notes: Notes): string | undefined {
  const strategy = section.text('routing_strategy');
  if (strategy === undefined) return undefined;
  if (!Object.hasOwn(STRATEGIES, strategy)) {
    notes.add(
      'lost',
      section.pathOf('routing_strategy'),
      `${strategy} is no order of endpoints here; by default they share requests by price and health`,
    );
    return undefined;
  }
  if (STRATEGIES[strategy] === null)
    notes.add(
      'changed',
      section.pathOf('routing_strategy'),
      'endpoints of one model share requests by price, and equally at the same price',
    );
  return STRATEGIES[strategy] ?? undefined;
}
