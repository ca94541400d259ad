import type { KnownSlug } from '../../catalog/known-slugs.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { readTarget, type Target } from './litellm-deployment.ts';
import { explain } from './litellm-explanations.ts';
import table from './litellm-providers.json' with { type: 'json' };
import type { Notes } from './notes.ts';
import { Section, unlessEmpty, withMember } from './section.ts';

const MODES: Readonly<Record<string, readonly string[]>> = table.modes;
/** Author of models that the catalog does not know. */
const OWN_AUTHOR = 'custom';
const SLUG = /^[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*$/i;
const TOKENS_A_PRICE = 1_000_000;
const DIGITS = 12;

/** What a price of theirs, in USD for one, is called here; for a million where it counts tokens or characters. */
const PRICES: readonly (readonly [theirs: string, ours: string, perMillion: boolean])[] = [
  ['input_cost_per_token', 'prompt', true],
  ['output_cost_per_token', 'completion', true],
  ['cache_read_input_token_cost', 'cache_read', true],
  ['cache_creation_input_token_cost', 'cache_write', true],
  ['cache_creation_input_token_cost_above_1hr', 'cache_write_1h', true],
  ['output_cost_per_reasoning_token', 'reasoning', true],
  ['input_cost_per_audio_token', 'audio', true],
  ['output_cost_per_audio_token', 'audio_output', true],
  ['input_cost_per_character', 'character', true],
  ['input_cost_per_second', 'second', false],
  ['output_cost_per_second', 'output_second', false],
];

interface Deployment {
  /** Where the file names its model. */
  readonly path: string;
  readonly target: Target;
  readonly baseModel: string | undefined;
  readonly outputModalities: readonly string[] | undefined;
  readonly readsImages: boolean;
  /** The members of the endpoint but provider and model. */
  readonly endpoint: JsonObject;
}

export interface ImportedModels {
  readonly providers: JsonObject;
  readonly models: JsonObject;
  readonly aliases: JsonObject;
  /** From their names of models to slugs. */
  readonly slugs: ReadonlyMap<string, string>;
  readonly resolvesBareNames: boolean;
}

/**
 * `model_list`: deployments of one name are the endpoints of one model.
 * @param credentials values of `credential_list`, by name
 */
export function importModels(
  list: readonly Json[],
  credentials: ReadonlyMap<string, JsonObject>,
  known: readonly KnownSlug[],
  notes: Notes,
): ImportedModels {
  const groups = new Map<string, Deployment[]>();
  const providers = new ProviderTable();
  let resolvesBareNames = false;
  for (const [index, item] of list.entries()) {
    const entry = new Section(`model_list[${index}]`, item);
    const name = entry.text('model_name');
    if (name === undefined) {
      notes.add('lost', entry.pathOf('model_name'), 'a model needs a name');
      continue;
    }
    if (name.includes('*')) {
      resolvesBareNames = importPattern(name, entry, { credentials, providers, notes }) || resolvesBareNames;
      continue;
    }
    const deployment = readDeployment(entry, credentials, notes);
    if (deployment === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [deployment]);
    else group.push(deployment);
  }
  const slugs = new Map<string, string>();
  const models: Record<string, Json> = {};
  for (const [name, deployments] of groups) {
    const slug = freeSlug(slugOf(name, deployments, known), models);
    slugs.set(name, slug);
    models[slug] = formatModel(name, slug, deployments, providers);
    noteUnknownPrices(deployments, known, notes);
  }
  return { providers: providers.format(), models, aliases: aliasesOf(slugs, notes), slugs, resolvesBareNames };
}

function readDeployment(
  entry: Section,
  credentials: ReadonlyMap<string, JsonObject>,
  notes: Notes,
): Deployment | undefined {
  const params = paramsOf(entry, credentials, notes);
  const info = entry.section('model_info');
  const target = readTarget(params, notes);
  if (target === undefined) return undefined;
  const mode = info.text('mode');
  const outputModalities = mode !== undefined && Object.hasOwn(MODES, mode) ? MODES[mode] : undefined;
  const baseModel = info.text('base_model');
  const readsImages = info.take('supports_vision') === true;
  const endpoint = {
    ...withMember('price', unlessEmpty(readPrice(params, info))),
    ...withMember('context_length', tokensOf(info.number('max_input_tokens'))),
    ...withMember('max_completion_tokens', tokensOf(info.number('max_output_tokens') ?? info.number('max_tokens'))),
  };
  noteRest('litellm_params', params, notes);
  noteRest('model_info', info, notes);
  noteRest('model_list', entry, notes);
  return { path: params.pathOf('model'), target, baseModel, outputModalities, readsImages, endpoint };
}

/** `litellm_params`, over the credential that it names. */
function paramsOf(entry: Section, credentials: ReadonlyMap<string, JsonObject>, notes: Notes): Section {
  const given = entry.take('litellm_params');
  const params: JsonObject = isJsonObject(given) ? given : {};
  const { litellm_credential_name: name, ...own } = params;
  const credential = typeof name === 'string' ? credentials.get(name) : undefined;
  const path = entry.pathOf('litellm_params');
  if (typeof name === 'string' && credential === undefined)
    notes.add('lost', `${path}.litellm_credential_name`, `credential_list has no ${JSON.stringify(name)}`);
  return new Section(path, { ...credential, ...own });
}

function tokensOf(value: number | undefined): number | undefined {
  return value === undefined || value < 1 ? undefined : Math.trunc(value);
}

function readPrice(params: Section, info: Section): JsonObject {
  const price: Record<string, Json> = {};
  for (const [theirs, ours, perMillion] of PRICES) {
    const [own, general] = [params.number(theirs), info.number(theirs)];
    const usd = own ?? general;
    // Doubles: 0.00000015 times a million is not 0.15.
    if (usd !== undefined) price[ours] = Number((usd * (perMillion ? TOKENS_A_PRICE : 1)).toPrecision(DIGITS));
  }
  return Object.keys(price).length === 0 ? {} : { prompt: 0, completion: 0, ...price };
}

export function noteRest(name: string, section: Section, notes: Notes): void {
  for (const key of section.rest()) notes.add(...noteOf(name, section.pathOf(key), key));
}

function noteOf(name: string, path: string, key: string): Parameters<Notes['add']> {
  const [kind, text] = explain(name, key);
  return [kind, path, text];
}

interface PatternDeps {
  readonly credentials: ReadonlyMap<string, JsonObject>;
  readonly providers: ProviderTable;
  readonly notes: Notes;
}

/** `openai/*`. @returns whether names without an author shall be resolved */
function importPattern(name: string, entry: Section, { credentials, providers, notes }: PatternDeps): boolean {
  const params = paramsOf(entry, credentials, notes);
  const path = entry.pathOf('model_name');
  const target = readTarget(params, notes);
  if (name === '*' && (target === undefined || target.upstreamModel === '*')) {
    if (target !== undefined) providers.slugOf(target);
    notes.add(
      'changed',
      path,
      'each provider with a key serves its models as provider/model; resolve_bare_names finds unique names without a provider',
    );
    noteRest('litellm_params', params, notes);
    return true;
  }
  if (target === undefined) return false;
  const prefix = /^([a-z0-9][a-z0-9._-]*)\/\*$/.exec(name)?.[1];
  if (prefix === undefined || target.upstreamModel !== '*') {
    notes.add('lost', path, `no pattern of this form; call the models as ${target.adapter}/<model>`);
    return false;
  }
  providers.reserve(prefix, target);
  notes.add(
    'changed',
    path,
    'every model of the provider is called by this prefix and its own name; add those whose price is unknown to models',
  );
  noteRest('litellm_params', params, notes);
  return false;
}

/** Entries of `providers`: deployments with the same settings share one. */
class ProviderTable {
  readonly #slugs = new Map<string, string>();
  readonly #entries = new Map<string, JsonObject>();

  slugOf({ adapter, entry }: Target): string {
    const key = JSON.stringify([adapter, entry]);
    const known = this.#slugs.get(key);
    if (known !== undefined) return known;
    let slug = adapter;
    for (let count = 2; this.#entries.has(slug); count++) slug = `${adapter}-${count}`;
    return this.#add(key, slug, { adapter, entry });
  }

  /** Under the name that callers use as prefix. */
  reserve(slug: string, { adapter, entry }: Target): void {
    if (!this.#entries.has(slug)) this.#add(JSON.stringify([adapter, entry]), slug, { adapter, entry });
  }

  #add(key: string, slug: string, { adapter, entry }: Pick<Target, 'adapter' | 'entry'>): string {
    this.#slugs.set(key, slug);
    this.#entries.set(slug, { ...(slug !== adapter && { adapter }), ...entry });
    return slug;
  }

  format(): JsonObject {
    return Object.fromEntries(this.#entries);
  }
}

/** A known model's slug only where every deployment is that model: it brings facts, such as the context. */
function slugOf(name: string, deployments: readonly Deployment[], known: readonly KnownSlug[]): string {
  if (SLUG.test(name)) return name;
  const isIt = (text: string): boolean => normalized(text).startsWith(normalized(name));
  const isAllOfIt = deployments.every(({ target, baseModel }) => {
    const upstream = target.upstreamModel.split('/').at(-1) ?? '';
    return isIt(upstream) || isIt(baseModel?.split('/').at(-1) ?? '') || isIt(upstream.split('.').at(-1) ?? '');
  });
  const [only, ...more] = isAllOfIt
    ? known.filter(({ slug }) => normalized(slug.split('/')[1] ?? '') === normalized(name))
    : [];
  if (only !== undefined && more.length === 0) return only.slug;
  return `${OWN_AUTHOR}/${name.replaceAll(/[^\w.-]+/g, '-').replace(/^[^a-z0-9]+/i, '') || 'model'}`;
}

/** Dots and dashes are equal in names of models. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll('.', '-');
}

function freeSlug(slug: string, models: JsonObject): string {
  let free = slug;
  for (let count = 2; Object.hasOwn(models, free); count++) free = `${slug}-${count}`;
  return free;
}

function formatModel(
  name: string,
  slug: string,
  deployments: readonly Deployment[],
  providers: ProviderTable,
): JsonObject {
  const output = deployments.find(({ outputModalities }) => outputModalities !== undefined)?.outputModalities;
  return {
    ...(slug.startsWith(`${OWN_AUTHOR}/`) && { name }),
    ...(deployments.some(({ readsImages }) => readsImages) && { input_modalities: ['text', 'image'] }),
    ...withMember('output_modalities', output),
    endpoints: withoutRepeats(
      deployments.map(({ target, endpoint }) => ({
        provider: providers.slugOf(target),
        model: target.upstreamModel,
        ...endpoint,
      })),
    ),
  };
}

/** Deployments that differ in tags or limits alone are one endpoint here. */
function withoutRepeats(endpoints: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(endpoints.map((one) => [JSON.stringify(one), one])).values()];
}

const ALIAS = /^[A-Za-z0-9][\w./-]*$/;

/** Only a price makes costs and limits exact. */
function noteUnknownPrices(deployments: readonly Deployment[], known: readonly KnownSlug[], notes: Notes): void {
  for (const { path, target, endpoint } of deployments) {
    if (endpoint['price'] !== undefined) continue;
    const isKnown = known.some(({ endpoints }) =>
      endpoints.some(
        ({ provider, upstreamModel }) => provider === target.adapter && upstreamModel === target.upstreamModel,
      ),
    );
    if (!isKnown)
      notes.add(
        'changed',
        path,
        'the price of this deployment may be unknown, and with it the cost of requests: add price to its endpoint ("model-gateway catalog show MODEL" has what is known)',
      );
  }
}

/** So that callers need not change. */
function aliasesOf(slugs: ReadonlyMap<string, string>, notes: Notes): JsonObject {
  const aliases: Record<string, Json> = {};
  for (const [name, slug] of slugs) {
    if (name === slug) continue;
    if (ALIAS.test(name)) aliases[name] = slug;
    else
      notes.add(
        'changed',
        `model_name ${JSON.stringify(name)}`,
        `is no name that callers can use here: they call it ${slug}`,
      );
  }
  return aliases;
}
