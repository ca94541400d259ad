import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { API_KEY, MANAGEMENT_KEY } from './gateway.ts';
import { createRandom } from './random.ts';
import { startGateway } from './spawn-cli.ts';
import { chatAnswer, chatChunk, sse, startUpstream, type Script } from './upstream.ts';

/** An answer whose end a caller has seen. */
export interface Finished {
  /** The generation's id. */
  readonly id: string;
  /** What the answer said that it cost, nano-USD. */
  readonly nanoUsd: number;
}

export interface KillLoop {
  readonly finished: readonly Finished[];
  /** The ids of all answers that the upstream began. */
  readonly upstreamIds: ReadonlySet<string>;
}

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: number;
  /** What is left in it after a kill is what the next process finds. */
  readonly dataDir: string;
  /** What the gateway sees of an environment, e.g. DATABASE_URL. */
  readonly env?: Readonly<Record<string, string>>;
}

const WORKERS = 16;
/** So long a process lives under load, at random. */
const LIFE_MS = { min: 150, max: 900 } as const;
const USD_PER_MILLION_TOKENS = 10;

/** Puts a gateway under load, kills it with SIGKILL at a random moment, starts it again on the same store, and so on. */
export async function killAgainAndAgain(t: Pick<TestContext, 'after'>, options: KillLoopOptions): Promise<KillLoop> {
  const { kills, seed, dataDir, env = {} } = options;
  const random = createRandom(seed);
  const finished: Finished[] = [];
  const upstreamIds = new Set<string>();
  const upstream = await startUpstream(countingUpstream(upstreamIds));
  t.after(() => upstream.close());
  const config = join(dataDir, 'gateway.yaml');
  await writeFile(config, configuration(upstream.baseUrl));
  for (let kill = 0; kill < kills; kill++) {
    const gateway = await startGateway(t, {
      dataDir,
      args: ['--config', config],
      env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY, ...env },
    });
    const workers = Array.from({ length: WORKERS }, async (_, worker) => {
      // The connection breaks when the process dies.
      for (let one = await ask(gateway.url, worker); one !== undefined; one = await ask(gateway.url, worker))
        finished.push(one);
    });
    await wait(random.int(LIFE_MS.min, LIFE_MS.max));
    gateway.child.kill('SIGKILL');
    await Promise.all([gateway.exited, ...workers]);
    upstream.arrived.length = 0;
  }
  return { finished, upstreamIds };
}

function configuration(baseUrl: string): string {
  return `
providers:
  alpha: { adapter: openai-compatible, base_url: ${baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: ${USD_PER_MILLION_TOKENS} } }]
`;
}

/** Every answer has an id of its own, and a length that differs from the next one's. */
function countingUpstream(ids: Set<string>): Script {
  return async ({ body }, response) => {
    const id = `up-${ids.size}`;
    ids.add(id);
    const tokens = (ids.size % 97) + 1;
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

/** `undefined` when the caller has not seen the end of a good answer. */
async function ask(url: string, worker: number): Promise<Finished | undefined> {
  const stream = worker % 2 === 0;
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/one', stream, messages: [{ role: 'user', content: 'hi' }] }),
    });
    const text = await response.text();
    const id = response.headers.get('x-generation-id');
    if (response.status !== 200 || id === null || (stream && !text.endsWith('data: [DONE]\n\n'))) return undefined;
    const [, usd] = /"cost":([0-9.e-]+)/.exec(text) ?? [];
    return usd === undefined ? undefined : { id, nanoUsd: Math.round(Number(usd) * 1e9) };
  } catch {
    return undefined;
  }
}
