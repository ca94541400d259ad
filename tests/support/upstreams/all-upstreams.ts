import { after, before } from 'node:test';
import type { ChatOrMessages } from '../chat-or-messages.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DownloaderOptions } from '../../../src/lib/net/download.ts';
import { startGateway, type RunningGateway } from '../gateway.ts';
import { readReported, type Reported } from '../reported.ts';
import { emit } from './speak.ts';
import { startUpstream, type Arrived, type ScriptedUpstream } from '../upstream.ts';

/**
 * The endpoint of each model of the gateway below: an adapter, and the upstream's name of the model. Names that the shipped
 * catalog knows bring its figures along.
 */
export const UPSTREAMS = {
  chat: { adapter: 'openai-compatible', model: 'one-2026' },
  openai: { adapter: 'openai', model: 'gpt-4.1' },
  openrouter: { adapter: 'openrouter', model: 'vendor/one' },
  claude: { adapter: 'anthropic', model: 'claude-sonnet-4-6' },
  'messages-plain': { adapter: 'messages-compatible', model: 'one-2026' },
  gemini: { adapter: 'google', model: 'gemini-3-pro-preview' },
  responses: { adapter: 'openai', model: 'gpt-5.4-pro' },
  azure: { adapter: 'azure', model: 'gpt-5.4-pro' },
  xai: { adapter: 'xai', model: 'grok-4-multi-agent' },
  deepseek: { adapter: 'deepseek', model: 'deepseek-chat' },
  alibaba: { adapter: 'alibaba', model: 'qwen-next' },
  converse: { adapter: 'bedrock', model: 'us.anthropic.claude-sonnet-4-6-v1:0' },
  nova: { adapter: 'bedrock', model: 'us.amazon.nova-2-lite-v1:0' },
  cohere: { adapter: 'cohere', model: 'command-next' },
} as const satisfies Readonly<Record<string, { readonly adapter: string; readonly model: string }>>;
export type UpstreamName = keyof typeof UPSTREAMS;

/** One of each wire format. */
export const ONE_OF_EACH = ['chat', 'claude', 'gemini', 'responses', 'converse', 'cohere'] as const;
export const CALLERS = ['chat', 'messages'] as const;

/** USD per million tokens, so that a cost can be checked by hand. */
const PRICE = { prompt: 1, completion: 2, cache_read: 0.1, cache_write: 1.25 };

/** A gateway in front of one scripted upstream that speaks every format: `acme/<name>` is served by that provider. */
export interface AllUpstreams {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
  /** The caller's response, however it is delivered; the status must be 200. @param body without the model, or JSON text */
  readonly ask: (
    caller: ChatOrMessages,
    name: UpstreamName | (string & {}),
    body: JsonObject | string,
    headers?: Record<string, string>,
  ) => Promise<Requested>;
}

export interface Requested {
  readonly reported: Reported;
  /** The last request that reached the upstream. */
  readonly arrived: Arrived;
  readonly warnings: readonly string[];
  readonly text: string;
}

export interface AllUpstreamsOptions {
  readonly downloads?: DownloaderOptions;
  /** Further providers and models, as in the configuration file. */
  readonly providers?: JsonObject;
  readonly models?: JsonObject;
}

export async function startAllUpstreams(
  t: { after(close: () => Promise<void>): unknown },
  { downloads, providers = {}, models = {} }: AllUpstreamsOptions = {},
): Promise<AllUpstreams> {
  const upstream = await startUpstream(emit('Done.'));
  const names = Object.keys(UPSTREAMS) as UpstreamName[];
  const entries = names.map((name) => [name, entryOf(UPSTREAMS[name].adapter, upstream.baseUrl, name)]);
  const served = names.map((name) => [
    `acme/${name}`,
    { endpoints: [{ provider: name, model: UPSTREAMS[name].model, price: PRICE }] },
  ]);
  const config = {
    providers: { ...(Object.fromEntries(entries) as object), ...(providers as object) },
    models: { ...(Object.fromEntries(served) as object), ...(models as object) },
  };
  const gateway = await startGateway({ yaml: JSON.stringify(config), ...(downloads !== undefined && { downloads }) });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return {
    gateway,
    upstream,
    async ask(format, name, body, headers) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const stream = text.includes('"stream":true');
      upstream.arrived.length = 0;
      const model = JSON.stringify(modelNamed(name));
      const response = await gateway.post(PATHS[format], `{"model":${model},${text.slice(1)}`, headers);
      const answer = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${answer}`);
      const contentType = response.headers.get('content-type') ?? '';
      const reported = readReported({ status: 200, contentType, text: answer, record: undefined }, { format, stream });
      const record = await gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
      const warnings = record?.warnings.map(({ code, path }) => `${code} ${path}`) ?? [];
      const arrived = upstream.arrived.at(-1);
      if (arrived === undefined) throw new Error('nothing reached the upstream');
      return { reported, arrived, warnings, text: answer };
    },
  };
}

/** The same, once for all tests of a file. To be called at the top of the file. */
export function shareAllUpstreams(options: AllUpstreamsOptions = {}): () => AllUpstreams {
  const closing: (() => Promise<void>)[] = [];
  let shared: AllUpstreams | undefined;
  before(async () => {
    shared = await startAllUpstreams({ after: (close) => closing.push(close) }, options);
  });
  after(async () => {
    for (const close of closing) await close();
  });
  return () => {
    if (shared === undefined) throw new Error('the upstreams are there while tests run');
    return shared;
  };
}

export const PATHS: Readonly<Record<ChatOrMessages, string>> = { chat: '/chat/completions', messages: '/messages' };

/** A provider's entry in the configuration. @param name which becomes part of its address */
function entryOf(adapter: string, baseUrl: string, name: string): JsonObject {
  return {
    adapter,
    name,
    base_url: `${baseUrl}/${name}/v1`,
    api_key: `upstream-secret-${name}`,
    // Files for tests are served beside the upstreams.
    options: { private_media: true, ...(adapter === 'bedrock' && { region: 'us-east-1' }) },
  };
}

function modelNamed(name: string): string {
  return name.includes('/') ? name : `acme/${name}`;
}
