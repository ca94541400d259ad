import { SAME_ENDPOINT_MAX } from '../../config/schema/models.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { ADAPTER_IDS, ADAPTERS } from '../../providers/index.ts';
import { keyVariablesOf } from '../../providers/build-provider.ts';
import table from './litellm-providers.json' with { type: 'json' };
import type { Notes } from './notes.ts';
import { unlessEmpty, withMember, type Section } from './section.ts';
import { isReference, textOf, translateText } from './values.ts';

/** How LiteLLM's name of a provider becomes ours. */
interface PrefixRow {
  readonly provider: string;
  /** Where LiteLLM finds its key if the file has none. */
  readonly variable?: string;
  /** Where it finds the address if the file has none. */
  readonly base?: string;
  /** The vendor's own hosts: at another address `elsewhere` is the adapter. */
  readonly hosts?: readonly string[];
  readonly elsewhere?: string;
  /** What stands before the name of a model and is no part of it. */
  readonly strip?: readonly string[];
}

const PREFIXES: Readonly<Record<string, PrefixRow>> = table.prefixes;
const OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = table.options;
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = table.defaults;
const SWITCHES: Readonly<Record<string, { readonly with: string; readonly option: string }>> = table.switches;
const BASE_URL = 'base_url';
/** Every model of every provider. */
const ALL = '*';
const MS_PER_S = 1_000;

/** One deployment of their file: an entry of `providers`, and the upstream's own name of the model there. */
export interface Target {
  readonly adapter: string;
  readonly upstreamModel: string;
  /** The entry of `providers`, without `adapter`. */
  readonly entry: JsonObject;
  /** LiteLLM's name of the provider. */
  readonly prefix: string;
}

/** `azure/gpt-4o-eu` of a provider that the file calls `azure`. */
interface ModelName {
  readonly prefix: string;
  readonly name: string;
}

/**
 * Where a deployment calls, from `litellm_params` with its credentials merged in; `undefined` where there is no adapter
 * for its provider, which is a note.
 */
export function readTarget(params: Section, notes: Notes): Target | undefined {
  const model = params.text('model');
  const path = params.pathOf('model');
  if (model === undefined) return lose(notes, path, 'a deployment names its model here');
  if (model === ALL) return undefined;
  const { prefix, name } = splitModel(model, params.text('custom_llm_provider'));
  const base = translateText(params.text('api_base') ?? params.text(BASE_URL));
  const row = Object.hasOwn(PREFIXES, prefix) ? PREFIXES[prefix] : undefined;
  if (row === undefined && base === undefined)
    return lose(
      notes,
      path,
      `there is no adapter for ${prefix === '' ? JSON.stringify(model) : prefix}; a host that speaks OpenAI's or Anthropic's format works as openai-compatible or messages-compatible with its base_url`,
    );
  if (row === undefined)
    notes.add(
      'changed',
      path,
      `${prefix} becomes ${ANY_HOST} at its own address: check that it speaks OpenAI's format`,
    );
  const known: PrefixRow = row ?? { provider: ANY_HOST };
  const isElsewhere = base !== undefined && known.elsewhere !== undefined && !isHostOf(known.hosts ?? [], base);
  const adapter = isElsewhere ? (known.elsewhere ?? known.provider) : known.provider;
  if (base === undefined && adapter === ANY_HOST)
    return lose(notes, path, `${prefix} needs an address: add api_base, and import again`);
  return {
    adapter,
    prefix,
    upstreamModel: stripped(name, known),
    entry: readEntry(params, { adapter, row: known, base }, notes),
  };
}

const ANY_HOST = ADAPTER_IDS[0] ?? '';

function lose(notes: Notes, path: string, text: string): undefined {
  notes.add('lost', path, text);
}

function splitModel(model: string, custom: string | undefined): ModelName {
  if (custom !== undefined)
    return { prefix: custom, name: model.startsWith(`${custom}/`) ? model.slice(custom.length + 1) : model };
  const slash = model.indexOf('/');
  const first = slash < 0 ? undefined : model.slice(0, slash);
  if (first !== undefined) return { prefix: first, name: model.slice(slash + 1) };
  const row = table.names.find(({ begins }) => begins.some((start) => model.startsWith(start)));
  return { prefix: row?.prefix ?? '', name: model };
}

function stripped(name: string, { strip = [] }: PrefixRow): string {
  const start = strip.find((one) => name.startsWith(one));
  return start === undefined ? name : name.slice(start.length);
}

/** A variable may hold any address: it counts as another host. */
function isHostOf(hosts: readonly string[], base: string): boolean {
  const host = URL.parse(base)?.hostname;
  return host !== undefined && hosts.includes(host);
}

interface Place {
  readonly adapter: string;
  readonly row: PrefixRow;
  readonly base: string | undefined;
}

function readEntry(params: Section, place: Place, notes: Notes): JsonObject {
  const { adapter, row, base } = place;
  const [address, options] = readOptions(params, adapter);
  const key = readKey(params, place, notes);
  const baseUrl = base ?? address ?? (key !== undefined || row.variable === undefined ? defaultBase(row) : undefined);
  const headers = readHeaders(params);
  return {
    ...withMember(BASE_URL, baseUrl),
    ...withMember('api_key', key),
    ...withMember('options', unlessEmpty(options)),
    ...withMember('headers', unlessEmpty(headers)),
    ...withMember('timeouts', unlessEmpty(readTimeouts(params))),
    ...withMember('retry', readRetries(params, ['max_retries', 'num_retries'], notes)),
  };
}

function defaultBase({ base }: PrefixRow): string | undefined {
  return base === undefined ? undefined : `\${${base}}`;
}

function readOptions(params: Section, adapter: string): readonly [address: string | undefined, options: JsonObject] {
  const options: Record<string, Json> = {};
  let address: string | undefined;
  for (const [theirs, ours] of Object.entries(OPTIONS[adapter] ?? {})) {
    const value = translateText(params.text(theirs));
    if (value === undefined) continue;
    if (ours === BASE_URL) address = value;
    else options[ours] = value;
  }
  for (const [option, variable] of Object.entries(DEFAULTS[adapter] ?? {})) options[option] ??= `\${${variable}}`;
  const flag = SWITCHES[adapter];
  if (flag !== undefined && options[flag.with] !== undefined) options[flag.option] = true;
  return [address, options];
}

/** Left out where the gateway finds the same key by itself, which it sends to the vendor's own host alone. */
function readKey(params: Section, { adapter, row, base }: Place, notes: Notes): string | undefined {
  const given = translateText(params.text('api_key'));
  if (given !== undefined && !isReference(given)) noteSecret(params.pathOf('api_key'), given, notes);
  const isOwn = adapter === row.provider;
  const key = given ?? (isOwn && row.variable !== undefined ? `\${${row.variable}}` : undefined);
  if (given === undefined && !isOwn)
    notes.add(
      'changed',
      params.pathOf('api_base'),
      'LiteLLM sends the key of the vendor to this host; here it gets none until api_key says so',
    );
  const id = ADAPTER_IDS.find((one) => one === adapter);
  const variables = id === undefined ? [] : keyVariablesOf(ADAPTERS[id]);
  return base === undefined && variables.some((name) => key === `\${${name}}`) ? undefined : key;
}

/** What stands for no key: LiteLLM's clients want one. */
const NO_KEYS: ReadonlySet<string> = new Set(['none', 'fake', 'dummy', 'anything', 'fake-key', 'not-needed', '']);

function noteSecret(path: string, key: string, notes: Notes): void {
  if (!NO_KEYS.has(key.toLowerCase()))
    notes.add('changed', path, 'the key stands in the file: put it into a variable, and write ${NAME} in its place');
}

function readHeaders(params: Section): JsonObject {
  const organization = translateText(params.text('organization'));
  const headers: Record<string, Json> = organization === undefined ? {} : { 'openai-organization': organization };
  for (const name of ['extra_headers', 'headers']) {
    const given = params.take(name);
    if (!isJsonObject(given)) continue;
    for (const [header, value] of Object.entries(given)) headers[header.toLowerCase()] = translateText(textOf(value));
  }
  return headers;
}

/** Theirs are seconds, of a whole call. */
export function readTimeouts(params: Section): JsonObject {
  const [whole, stream] = ['timeout', 'stream_timeout'].map((name) => params.number(name));
  const inMs = (seconds: number): number => Math.max(1, Math.round(seconds * MS_PER_S));
  return {
    ...(whole !== undefined && { whole_ms: inMs(whole) }),
    ...(stream !== undefined && { first_token_ms: inMs(stream) }),
  };
}

export function readRetries(section: Section, names: readonly string[], notes: Notes): JsonObject | undefined {
  let retries: number | undefined;
  for (const name of names) {
    const given = section.number(name);
    if (given === undefined) continue;
    if (given > SAME_ENDPOINT_MAX)
      notes.add(
        'changed',
        section.pathOf(name),
        `retry.same_endpoint is at most ${SAME_ENDPOINT_MAX}; other endpoints and fallbacks come after it`,
      );
    retries ??= Math.min(SAME_ENDPOINT_MAX, Math.max(0, Math.trunc(given)));
  }
  return retries === undefined ? undefined : { same_endpoint: retries };
}
