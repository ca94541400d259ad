import type { FormatId } from '../canonical/extra.ts';
import { assert } from '../lib/assert.ts';
import { isPublicWebAddress } from '../lib/net/public-address.ts';
import { normaliseBaseUrl } from './base-url.ts';
import {
  asSetupError,
  checkedBaseUrl,
  checkedHeaders,
  checkedKey,
  checkedOptions,
  ProviderSetupError,
  textOf,
} from './check-settings.ts';
import type { AttemptTimeouts, Connection, FormatOffer, Provider, ProviderAdapter } from './contract.ts';
import type { KnownProvider } from './known-provider.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';

/** One provider as the operator's configuration has it. */
export interface ProviderEntry {
  readonly slug: string;
  readonly adapter: string;
  readonly name?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** What only this adapter knows, in the file's words. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Overrides of the general ones. */
  readonly timeouts: Partial<AttemptTimeouts>;
  readonly sendsTraceContext?: boolean;
}

export interface BuildContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeouts: AttemptTimeouts;
  /** The adapter's own, or where the sandbox happens to listen. */
  readonly ownBaseUrl: string | undefined;
}

const MODELS_PATH = '/models';

/** The adapter with its settings, ready to be called. @throws ProviderSetupError */
export function buildProvider(adapter: ProviderAdapter, entry: ProviderEntry, context: BuildContext): Provider {
  const at = (member: string): string => `providers.${entry.slug}.${member}`;
  const { env, ownBaseUrl } = context;
  const {
    stored_files: storedFiles,
    private_media: privateMedia,
    ...options
  } = checkedOptions(at('options'), adapter, entry.options ?? {});
  const given = givenBaseUrl(adapter, entry, ownBaseUrl, at);
  const apiKey =
    entry.apiKey === undefined ? environmentKey(adapter, given, env) : checkedKey(at('api_key'), entry.apiKey);
  const connection = connect(adapter, { options, apiKey, baseUrl: given, env }, at);
  const secrets = [
    ...(adapter.secretOptions ?? []).flatMap((name) => (typeof options[name] === 'string' ? [options[name]] : [])),
    ...(connection.secrets ?? []),
  ];
  return {
    adapter,
    settings: {
      slug: entry.slug,
      name: entry.name ?? adapter.name,
      baseUrl: connection.baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      ...(secrets.length > 0 && { secrets }),
      headers: checkedHeaders(at('headers'), entry.headers),
      timeouts: mergedTimeouts(context.timeouts, entry.timeouts),
      ...(entry.sendsTraceContext === true && { sendsTraceContext: true }),
    },
    authorize: connection.authorize ?? adapter.authorize,
    formats: connection.formats ?? adapter.formats.filter((offer) => isThere(offer, connection.baseUrl, ownBaseUrl)),
    ...(options['storage_uris'] === true && { storageUris: true }),
    ...(storedFiles === true && { storedFiles: true }),
    ...((privateMedia === true || isPublicWebAddress(connection.baseUrl)) && { opensAnyMedia: true }),
    ...(connection.clipBucket !== undefined && { clipBucket: connection.clipBucket }),
    checkPath: connection.checkPath ?? adapter.checkPath ?? MODELS_PATH,
  };
}

/** The formats in which a model can be called there, most native first. */
export function formatsOf({ adapter, formats }: Provider, model: string): readonly FormatId[] {
  const offered = formats.map(({ format }) => format);
  const fit = adapter.formatsOf?.(model).filter((format) => offered.includes(format)) ?? offered;
  return fit.length > 0 ? fit : offered;
}

/** Those in which it can be given tools; `undefined`: all of them, as far as is known. */
export function toolFormatsOf({ adapter, formats }: Provider, model: string): readonly FormatId[] | undefined {
  const offered = adapter.toolFormatsOf?.(model)?.filter((fit) => formats.some(({ format }) => format === fit));
  return offered?.length === 0 ? undefined : offered;
}

/** The environment variables that may hold the adapter's key, the first one first. */
export function keyVariablesOf(adapter: ProviderAdapter): readonly string[] {
  const variables = rowOf(adapter.id)?.apiKeyVariables;
  if (variables !== undefined) return variables;
  return adapter.apiKeyVariable === undefined ? [] : [adapter.apiKeyVariable];
}

export function rowOf(id: string): KnownProvider | undefined {
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  return rows.find((row) => row.id === id);
}

/** Over TLS, or at the very origin that the adapter knows: a key must not be readable on the way. */
export function isOwnHost({ baseUrl: own, ownHosts }: ProviderAdapter, baseUrl: string): boolean {
  const { origin, protocol, hostname } = new URL(baseUrl);
  if (own !== undefined && new URL(own).origin === origin) return true;
  return protocol === 'https:' && ownHosts?.test(hostname) === true;
}

function givenBaseUrl(
  adapter: ProviderAdapter,
  entry: ProviderEntry,
  ownBaseUrl: string | undefined,
  at: (member: string) => string,
): string | undefined {
  const given = entry.baseUrl ?? ownBaseUrl;
  if (given === undefined) {
    if (adapter.connect !== undefined) return undefined;
    throw new ProviderSetupError(at('base_url'), `is required for the adapter ${adapter.id}`);
  }
  // Its own URL as the pattern means: leave the path as it is.
  const pattern = adapter.unversioned === true ? given : ownBaseUrl;
  return checkedBaseUrl(at('base_url'), () => normaliseBaseUrl(given, pattern));
}

/** The environment's key, but only toward the host that it belongs to: never to an address of the operator's choice. */
function environmentKey(
  adapter: ProviderAdapter,
  baseUrl: string | undefined,
  env: BuildContext['env'],
): string | undefined {
  if (baseUrl !== undefined && !isOwnHost(adapter, baseUrl)) return undefined;
  for (const name of keyVariablesOf(adapter)) {
    const key = textOf(env, name);
    if (key !== undefined) return checkedKey(name, key);
  }
  return undefined;
}

interface Given {
  readonly options: Readonly<Record<string, unknown>>;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly env: BuildContext['env'];
}

function connect(
  adapter: ProviderAdapter,
  { options, apiKey, baseUrl, env }: Given,
  at: (member: string) => string,
): Connection {
  if (adapter.connect === undefined) {
    assert(baseUrl !== undefined, 'an adapter without a base URL was refused');
    return { baseUrl };
  }
  const setup = { options, env, ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseUrl }) };
  try {
    return adapter.connect(setup);
  } catch (error) {
    throw asSetupError(error, at);
  }
}

/** A format with a path of its own beside the base URL exists where that base URL is the provider's own. */
function isThere({ basePath }: FormatOffer, baseUrl: string, ownBaseUrl: string | undefined): boolean {
  return basePath === undefined || baseUrl === ownBaseUrl;
}

/** A provider's own general limit is nearer to it than a limit that a kind has at all providers. */
function mergedTimeouts(general: AttemptTimeouts, own: Partial<AttemptTimeouts>): AttemptTimeouts {
  return {
    connectMs: own.connectMs ?? general.connectMs,
    headersMs: own.headersMs ?? general.headersMs,
    firstTokenMs: own.firstTokenMs ?? general.firstTokenMs,
    idleMs: own.idleMs ?? general.idleMs,
    wholeMs: own.wholeMs ?? general.wholeMs,
    embeddingsMs: own.embeddingsMs ?? own.wholeMs ?? general.embeddingsMs,
    rerankMs: own.rerankMs ?? own.wholeMs ?? general.rerankMs,
    imageMs: own.imageMs ?? own.wholeMs ?? general.imageMs,
    transcriptionMs: own.transcriptionMs ?? own.wholeMs ?? general.transcriptionMs,
    speechFirstByteMs: own.speechFirstByteMs ?? own.firstTokenMs ?? general.speechFirstByteMs,
    speechIdleMs: own.speechIdleMs ?? own.idleMs ?? general.speechIdleMs,
  };
}
