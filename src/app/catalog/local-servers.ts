import { isJsonObject, parseJsonObject } from '../../lib/json.ts';
import type { HttpClient } from '../../lib/net/http-client.ts';
import type { LiveCatalog } from './live-catalog.ts';
import type { Provider } from '../../providers/contract.ts';
import { LOCAL_ENGINES } from '../../providers/local-engines.ts';

/** For the connection and the answer together: a server on this machine answers at once. */
const PROBE_MS = 1_000;
const EVERY_MS = 30_000;
const ANSWER_BYTES_MAX = 1_048_576;
const MODELS_MAX = 500;
const NAME_CHARS_MAX = 200;

export interface LocalServers {
  /** Looks at once, and then at intervals, in the background. */
  start(): void;
  /** Looks once. */
  look(): Promise<void>;
  stop(): void;
}

/**
 * Finds engines that run on this machine, and lists their models. A configured provider is called at its own address,
 * others at the usual address of such an engine; they are listed while they respond.
 * @param candidates the engines at their usual addresses
 */
export function createLocalServers(parts: {
  readonly providers: Map<string, Provider>;
  readonly candidates: ReadonlyMap<string, Provider>;
  readonly live: Pick<LiveCatalog, 'discovered'>;
  readonly http: HttpClient;
  /** How long a server may take to list its models. Default: `PROBE_MS`. */
  readonly probeMs?: number;
}): LocalServers {
  const { providers, candidates, live, http, probeMs = PROBE_MS } = parts;
  const own = new Set([...providers].filter(([, { adapter }]) => LOCAL_ENGINES.has(adapter.id)).map(([slug]) => slug));
  const known = new Map<string, readonly string[]>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function lookAt(slug: string): Promise<void> {
    const provider = own.has(slug) ? providers.get(slug) : candidates.get(slug);
    if (provider === undefined) return;
    // Another server may use the usual address; the operator's address needs no check.
    const owner = own.has(slug) ? undefined : LOCAL_ENGINES.get(provider.adapter.id)?.modelsOwner;
    const models = await listModels(provider, owner, http, probeMs);
    if (isStopped || isSame(models, known.get(slug))) return;
    if (models === undefined) {
      known.delete(slug);
      if (!own.has(slug)) providers.delete(slug);
    } else {
      known.set(slug, models);
      providers.set(slug, provider);
    }
    live.discovered(slug, models ?? []);
  }

  async function look(): Promise<void> {
    // A slug of the operator's means what the operator set up, whatever else may run.
    const free = [...candidates.keys()].filter((slug) => known.has(slug) || !providers.has(slug));
    await Promise.all([...own, ...free].map(lookAt));
  }

  function again(): void {
    if (isStopped) return;
    void look().finally(() => {
      if (isStopped) return;
      timer = setTimeout(again, EVERY_MS);
      timer.unref();
    });
  }

  return {
    look,
    start: again,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function isSame(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

/** The names of its models; `undefined`: there is no response, or not that of such an engine. Never throws. */
async function listModels(
  provider: Provider,
  owner: string | undefined,
  http: HttpClient,
  probeMs: number,
): Promise<readonly string[] | undefined> {
  const { settings } = provider;
  const url = new URL(`${settings.baseUrl}/models`);
  const headers = { accept: 'application/json', 'user-agent': 'model-gateway', ...settings.headers };
  const target = {
    format: 'chat',
    settings,
    model: '',
    stream: false,
    method: 'GET',
    url: url.href,
    body: '',
  } as const;
  const limit = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => limit.resolve(undefined), probeMs);
  try {
    const credentials = await provider.authorize({ ...target, headers });
    const call = http.call({
      origin: url.origin,
      path: url.pathname,
      method: 'GET',
      headers: { ...headers, ...credentials },
      connectTimeoutMs: probeMs,
    });
    const text = await Promise.race([readResponse(call.answer), limit.promise]);
    call.cancel();
    return text === undefined ? undefined : namesIn(text, owner);
  } catch {
    // Whatever the failure, there are no models at this address now.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

async function readResponse(answer: ReturnType<HttpClient['call']>['answer']): Promise<string | undefined> {
  const inbound = await answer;
  if (inbound.status !== 200) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = await inbound.read();
    if (chunk === undefined) return Buffer.concat(chunks).toString('utf8');
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
}

function namesIn(text: string, owner: string | undefined): readonly string[] | undefined {
  const data = parseJsonObject(text)?.['data'];
  if (!Array.isArray(data)) return undefined;
  const rows = data.filter(isJsonObject);
  if (owner !== undefined && rows.some((row) => row['owned_by'] !== owner)) return undefined;
  if (owner !== undefined && rows.length === 0) return undefined;
  const names = rows.map((row) => row['id']).filter((id) => typeof id === 'string');
  return names.filter((name) => name.length <= NAME_CHARS_MAX && /^\S+$/.test(name)).slice(0, MODELS_MAX);
}
