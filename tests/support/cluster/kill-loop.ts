import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts';
import { createRandom } from '../random.ts';
import { startGateway } from '../cli/spawn-cli.ts';
import { chatAnswer, chatChunk, sse, startUpstream, type Script } from '../upstream.ts';

/** An answer whose end a caller has seen. */
export interface Finished {
  /** The generation's id. */
  readonly id: string;
  /** What the answer said that it cost, nano-USD. */
  readonly nanoUsd: number;
}

/** A key whose spending is bounded. */
export interface LimitedKey {
  readonly key: string;
  readonly hash: string;
  readonly limitNanoUsd: number;
  /** How many requests were refused with 402. */
  refused: number;
}

export interface KillLoop {
  readonly finished: readonly Finished[];
  /** The ids of all answers that the upstream began. */
  readonly upstreamIds: ReadonlySet<string>;
  /** One for each requested limit. */
  readonly limited: readonly LimitedKey[];
  /** Starts the gateway once more, on the same store. */
  restart(): Promise<{ readonly url: string; stop(): Promise<void> }>;
}

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: number;
  /** What is left in it after a kill is what the next process finds. */
  readonly dataDir: string;
  /** Keys with these limits take their part of the load, beside one that nothing limits. Nano-USD. */
  readonly limitsNanoUsd: readonly number[];
  /** What the gateway sees of an environment, e.g. DATABASE_URL. */
  readonly env?: Readonly<Record<string, string>>;
  /** More of the configuration, YAML. */
  readonly yaml?: string;
  /** What happens to the place between a kill and the next start. */
  readonly afterKill?: () => Promise<void>;
}

const WORKERS = 16;
/** So many answers of the upstream begin in the life of a process, at random: it is counted, since machines differ. */
const LIFE_ANSWERS = { min: 5, max: 120 } as const;
/** So much later it dies, at random: at any moment of a request, and not only where one begins. */
const DEATH_MS_MAX = 15;
/** What the model of the load costs. */
export const NANO_USD_PER_TOKEN = 10_000;
/** The longest response, which the load requests. */
const TOKENS_MAX = 97;
const REFUSED_PAUSE_MS = 20;
const TOTAL_MS = 30_000;
/** So long after its request began a hold ends by itself: the longest request, and a minute. */
export const RESERVATION_MS = TOTAL_MS + 60_000;

/** Puts a gateway under load, kills it with SIGKILL at a random moment, starts it again on the same store, and so on. */
export async function killAgainAndAgain(t: Pick<TestContext, 'after'>, options: KillLoopOptions): Promise<KillLoop> {
  const { kills, seed, dataDir, env = {} } = options;
  const random = createRandom(seed);
  const finished: Finished[] = [];
  const upstreamIds = new Set<string>();
  const limited: LimitedKey[] = [];
  const upstream = await startUpstream(countingUpstream(upstreamIds));
  t.after(() => upstream.close());
  const config = join(dataDir, 'gateway.yaml');
  await writeFile(config, configuration(upstream.baseUrl) + (options.yaml ?? ''));
  const start = () =>
    startGateway(t, {
      dataDir,
      args: ['--config', config],
      env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY, ...env },
    });
  for (let kill = 0; kill < kills; kill++) {
    const gateway = await start();
    if (kill === 0)
      for (const limitNanoUsd of options.limitsNanoUsd) limited.push(await createKey(gateway.url, limitNanoUsd));
    const workers = Array.from({ length: WORKERS }, (_, at) => work(gateway.url, at, limited, finished));
    const load = Promise.all(workers);
    await hasBegun(upstreamIds, upstreamIds.size + random.int(LIFE_ANSWERS.min, LIFE_ANSWERS.max), load);
    await wait(random.int(0, DEATH_MS_MAX));
    gateway.child.kill('SIGKILL');
    await Promise.all([gateway.exited, load]);
    await options.afterKill?.();
    upstream.arrived.length = 0;
  }
  return {
    finished,
    upstreamIds,
    limited,
    async restart() {
      const { url, child, exited } = await start();
      return {
        url,
        async stop() {
          child.kill('SIGTERM');
          await exited;
        },
      };
    },
  };
}

/** Waits until this many responses have begun, or there are no more requests. */
async function hasBegun(ids: ReadonlySet<string>, count: number, load: Promise<unknown>): Promise<void> {
  const over = load.then(() => true);
  while (ids.size < count) if (await Promise.race([over, wait(1)])) return;
}

async function createKey(url: string, limitNanoUsd: number): Promise<LimitedKey> {
  const response = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'limited', limit: limitNanoUsd / 1e9 }),
  });
  const { key, data } = (await response.json()) as { readonly key: string; readonly data: { readonly hash: string } };
  return { key, hash: data.hash, limitNanoUsd, refused: 0 };
}

/** One caller after the other, until the connection breaks because the process died. */
async function work(url: string, at: number, limited: readonly LimitedKey[], finished: Finished[]): Promise<void> {
  const stream = at % 2 === 0;
  const key = limited[at % (limited.length + 1)];
  for (;;) {
    const outcome = await ask(url, { key: key?.key ?? API_KEY, stream, maxTokens: TOKENS_MAX });
    if (outcome === undefined) return;
    if ('id' in outcome) finished.push(outcome);
    else if (outcome.status !== 402 || key === undefined) return;
    else {
      key.refused++;
      await wait(REFUSED_PAUSE_MS);
    }
  }
}

/** Of the gateways under this load. */
export function configuration(baseUrl: string): string {
  return `
timeouts: { total_ms: ${TOTAL_MS} }
providers:
  alpha: { adapter: openai-compatible, base_url: ${baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: ${NANO_USD_PER_TOKEN / 1e3} } }]
`;
}

/** Every answer has an id of its own, and a length that differs from the next one's. */
export function countingUpstream(ids: Set<string>): Script {
  return async ({ body }, response) => {
    const id = `up-${ids.size}`;
    ids.add(id);
    const tokens = (ids.size % TOKENS_MAX) + 1;
    const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens };
    if (body['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(chatAnswer('ok', { id, usage })));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const word of ['one ', 'two ', 'three']) {
      response.write(sse([chatChunk({ content: word }, null, { id })]));
      await wait(1);
    }
    response.end(sse([chatChunk({}, 'stop', { id }), chatChunk({}, null, { id, choices: [], usage }), '[DONE]']));
  };
}

/** Sends one request of the load. `undefined` when the caller has not seen the end of the response. */
export async function ask(
  url: string,
  { key, stream, maxTokens }: { readonly key: string; readonly stream: boolean; readonly maxTokens: number },
): Promise<Finished | { readonly status: number } | undefined> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'acme/one',
        stream,
        max_tokens: maxTokens,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    const text = await response.text();
    if (response.status !== 200) return { status: response.status };
    const id = response.headers.get('x-generation-id');
    if (id === null || (stream && !text.endsWith('data: [DONE]\n\n'))) return undefined;
    const [, usd] = /"cost":([0-9.e-]+)/.exec(text) ?? [];
    return usd === undefined ? undefined : { id, nanoUsd: Math.round(Number(usd) * 1e9) };
  } catch {
    return undefined;
  }
}
