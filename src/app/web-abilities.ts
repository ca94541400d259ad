import { namesVault, type FillSecrets } from '../canonical/vault-reference.ts';
import type { FileReader } from '../canonical/tools/parsed-file.ts';
import type { WebPages } from '../canonical/tools/web-page.ts';
import type { SearchEngineId, WebSearch } from '../canonical/tools/web-search.ts';
import type { Config } from '../config/config.ts';
import { createFileReader } from '../documents/file-reader.ts';
import type { OcrSettings } from '../documents/mistral-ocr.ts';
import { createTextMaker } from '../documents/text-maker.ts';
import { createWebPages, type WebPagesDeps } from '../documents/web-pages.ts';
import type { Clock } from '../lib/clock.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { createDownloader, type Download, type DownloaderOptions } from '../lib/net/download.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { createProxyOf } from '../lib/net/proxy/proxies.ts';
import { isPublicOrOwnAddress } from '../lib/net/public-address.ts';
import type { EngineSettings, SearchEngine } from '../search/contract.ts';
import { ENGINES } from '../search/engines.ts';
import { createEnginePages } from '../search/pages.ts';
import { createWebSearch } from '../search/search.ts';

/** What the gateway can do with the web and with files, for its plugins and its tools. */
export interface WebAbilities {
  readonly search: WebSearch;
  readonly pages: WebPages;
  readonly files: FileReader;
  close(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

interface WebDeps {
  readonly config: Config;
  readonly env: Env;
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly download: Download;
  /** Memory for files of requests and for pages. */
  readonly fileMemory: ByteBudget;
  /** Absent: no key is filled in. */
  readonly vault?: { readonly fill: FillSecrets };
}

/** @param downloads which addresses may be called where the operator says nothing of it */
export function createWebAbilities(
  { config, env, clock, http, download, fileMemory: memory, vault }: WebDeps,
  downloads: DownloaderOptions = {},
): WebAbilities {
  const engines = enginesOf(config, env, vault?.fill);
  const textMaker = createTextMaker({
    memoryBytes: config.memory.documentBytes,
    processBytes: config.memory.limitBytes,
  });
  const downloader = createDownloader({
    proxyOf: createProxyOf(config.proxies),
    ...downloads,
    ...(config.webFetch.privateAddresses && { isAllowed: isPublicOrOwnAddress }),
    protocols: ['https:', 'http:'],
  });
  const nowMs = (): number => clock.nowMs();
  return {
    search: createWebSearch({ http, engines, preferred: config.search.engine, memory }),
    pages: createWebPages({
      download: downloader.download,
      textMaker,
      memory,
      vendors: createEnginePages({ http, engines, memory, nowMs }),
      nowMs,
      ...(vault !== undefined && { credentialsFor: credentialsOf(config.webFetch.credentials, vault.fill) }),
    }),
    files: createFileReader({ http, download, textMaker, memory, ocr: ocrOf(config, env) }),
    async close() {
      await Promise.all([downloader.close(), textMaker.close()]);
    },
  };
}

/** Headers of pages by the operator's rules: a model names no secret, and its address must be one of the rule's host. */
function credentialsOf(
  rules: Config['webFetch']['credentials'],
  fill: FillSecrets,
): NonNullable<WebPagesDeps['credentialsFor']> {
  return async (address, keyHash) => {
    const host = URL.parse(address)?.hostname.replace(/\.$/, '');
    const headers = rules.filter((rule) => rule.host === host).map(({ header, value }) => [header, value] as const);
    if (headers.length === 0) return undefined;
    const filled = await fill(Object.fromEntries(headers), { url: address, caller: 'web_fetch', keyHash });
    return { headers: filled.texts, secrets: filled.values };
  };
}

/** Engines whose key, or whose address where they need no key, is in the configuration or in the environment. */
function enginesOf(
  { search }: Config,
  env: Env,
  fill: FillSecrets | undefined,
): ReadonlyMap<SearchEngineId, EngineSettings> {
  return new Map(
    Object.values(ENGINES).flatMap((engine) => {
      const settings = settingsOf(engine, search.engines[engine.id], env);
      return settings === undefined ? [] : [[engine.id, filledWhenCalled(engine.id, settings, fill)] as const];
    }),
  );
}

function filledWhenCalled(id: SearchEngineId, settings: EngineSettings, fill: FillSecrets | undefined): EngineSettings {
  const { apiKey, baseUrl: url } = settings;
  if (apiKey === undefined || fill === undefined || !namesVault(apiKey)) return settings;
  return {
    ...settings,
    async fill() {
      const { texts } = await fill({ apiKey }, { url, caller: `search:${id}` });
      return { ...settings, apiKey: texts['apiKey'] ?? '' };
    },
  };
}

function settingsOf(
  { baseUrl: usual, needsKey, envNames }: SearchEngine,
  entry: Config['search']['engines'][SearchEngineId],
  env: Env,
): EngineSettings | undefined {
  const reported = firstOf(envNames, env);
  const apiKey = entry.apiKey ?? (needsKey ? reported : undefined);
  const baseUrl = entry.baseUrl ?? (needsKey ? usual : reported?.replace(/\/+$/, ''));
  if (baseUrl === undefined || URL.parse(baseUrl) === null || (needsKey && apiKey === undefined)) return undefined;
  return { baseUrl, ...(apiKey !== undefined && { apiKey }) };
}

/** An empty variable is how compose files and shells say "not set". */
function firstOf(names: readonly string[], env: Env): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
}

const OCR_BASE_URL = 'https://api.mistral.ai/v1';
const OCR_MODEL = 'mistral-ocr-latest';

function ocrOf({ fileParser }: Config, env: Env): OcrSettings | undefined {
  const {
    apiKey = firstOf(['MISTRAL_API_KEY'], env),
    baseUrl = OCR_BASE_URL,
    model = OCR_MODEL,
  } = fileParser.mistralOcr;
  return apiKey === undefined ? undefined : { apiKey, baseUrl, model };
}
