import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'node:http';
import { z } from 'zod';
import type { Attack, AttackOutcome } from './attacks.ts';
import { startLimited, type LimitedProcess } from './limited-process.ts';
import { startLoad } from './start-load.ts';

const MANAGEMENT_KEY = 'hostile-management-key-0123456789';
/** Between two requests of the well-behaved caller. */
const PAUSE_MS = 25;
const WARM_UP_REQUESTS = 50;
const GOOD_MS_MAX = 20_000;

/** What the well-behaved caller saw. */
export interface GoodCaller {
  readonly latenciesMs: readonly number[];
  /** Every request that was not answered with 200, as `status` or the code of the error. */
  readonly failures: readonly string[];
}

/** A gateway under a limit, an upstream with large answers, an attacker's key and that of a well-behaved caller. */
export interface Stage {
  readonly gateway: LimitedProcess;
  run(
    attack: Attack,
    limitMs: number,
  ): Promise<{ readonly outcome: AttackOutcome; readonly good: GoodCaller; readonly peakMb: number }>;
  /** The well-behaved caller alone. */
  quiet(forMs: number): Promise<GoodCaller>;
  readVitals(): Promise<GatewayVitals>;
  close(): Promise<void>;
}

/** By the gateway's own metrics. */
export interface GatewayVitals {
  /** The longest stretch between two turns of its event loop, since this was last read. */
  readonly longestGapMs: number;
  /** What its threads worked since it began. */
  readonly cpuMs: number;
}

/** Commands that start the processes of a stage: `taskset`, `nice`. Empty: they run wherever there is room. */
export interface Launchers {
  readonly gateway: readonly string[];
  /** Of the upstream and the attackers. */
  readonly load: readonly string[];
}

const UNPINNED: Launchers = { gateway: [], load: [] };

export async function startStage(
  limitMb: number,
  { concurrent }: Pick<Attack, 'concurrent'>,
  launchers: Launchers = UNPINNED,
): Promise<Stage> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'hostile-'));
  const load = await startLoad(launchers.load);
  const configPath = path.join(dataDir, 'gateway.yaml');
  await writeFile(configPath, configOf(load.baseUrl, load.bulkyUrl, concurrent));
  const env = { GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY, GATEWAY_LOG_LEVEL: 'fatal' };
  const launcher = launchers.gateway;
  const gateway = await startLimited({ limitMb, configPath, dataDir, env, launcher }).catch(async (error: unknown) => {
    await load.close();
    throw error;
  });
  const [goodKey, key] = await Promise.all([makeKey(gateway.url, 'good'), makeKey(gateway.url, 'hostile')]);
  const target = { url: gateway.url, key, largeModel: 'acme/large' };
  const warmUp = new AbortController();
  await callAgain(gateway.url, goodKey, warmUp.signal, WARM_UP_REQUESTS);
  return {
    gateway,
    async run(attack, limitMs) {
      const over = new AbortController();
      const good = callAgain(gateway.url, goodKey, over.signal);
      const outcome = await load.attack(attack, target, limitMs);
      // What it left behind is still there.
      await wait(1_500);
      over.abort();
      return { outcome, good: await good, peakMb: gateway.peakMb() };
    },
    async quiet(forMs) {
      return callAgain(gateway.url, goodKey, AbortSignal.timeout(forMs));
    },
    async readVitals() {
      return readVitals(gateway.url);
    },
    async close() {
      await gateway.close();
      await load.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The models of the upstream whose answers are bulky. */
const BULKY_MODELS = ['packed', 'flowing', 'fetching'] as const;

function configOf(baseUrl: string, bulkyUrl: string, concurrent: number | undefined): string {
  const providers = BULKY_MODELS.map(
    (name) => `  ${name}: { adapter: openai-compatible, base_url: ${bulkyUrl}/${name}, api_key: a }\n`,
  );
  const models = BULKY_MODELS.map(
    (name) =>
      `  acme/${name}: { endpoints: [{ provider: ${name}, model: ${name}, price: { prompt: 0, completion: 0 } }] }\n`,
  );
  return `${concurrent === undefined ? '' : `rate_limits: { key: { concurrent: ${concurrent} } }`}
web_fetch: { private_addresses: true }
file_parser: { mistral_ocr: { base_url: ${bulkyUrl}/service, api_key: a } }
providers:
  alpha: { adapter: openai-compatible, base_url: ${baseUrl}, api_key: a }
${providers.join('')}models:
  acme/large: { endpoints: [{ provider: alpha, model: large, price: { prompt: 0, completion: 0 } }] }
${models.join('')}`;
}

async function makeKey(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
    body: JSON.stringify({ name }),
  });
  return z.looseObject({ key: z.string() }).parse(await response.json()).key;
}

async function readVitals(url: string): Promise<GatewayVitals> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${MANAGEMENT_KEY}` } });
  const text = await response.text();
  const secondsOf = (metric: string): number => {
    const line = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text);
    if (line === null) throw new Error(`No ${metric} is in the metrics (status ${response.status}).`);
    return Number(line[1]);
  };
  return {
    longestGapMs: secondsOf('nodejs_eventloop_lag_max_seconds') * 1_000,
    cpuMs: secondsOf('process_cpu_seconds_total') * 1_000,
  };
}

/** One request after the other, every second one on a connection of its own. */
async function callAgain(url: string, key: string, signal: AbortSignal, most = Infinity): Promise<GoodCaller> {
  const latenciesMs: number[] = [];
  const failures: string[] = [];
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!signal.aborted && latenciesMs.length + failures.length < most) {
    const startedMs = performance.now();
    const isFresh = latenciesMs.length % 2 === 0;
    const result = await callOnce(url, key, isFresh ? false : kept);
    if (result === '200') latenciesMs.push(performance.now() - startedMs);
    else failures.push(result);
    await wait(most === Infinity ? PAUSE_MS : 0);
  }
  kept.destroy();
  return { latenciesMs, failures };
}

const QUESTION = JSON.stringify({
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'Are you still there?' }],
});

/** The status, or what went wrong. */
function callOnce(url: string, key: string, agent: Agent | false): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const requested = request(
      `${url}/v1/chat/completions`,
      { method: 'POST', agent, headers, timeout: GOOD_MS_MAX },
      (answer) => {
        answer.resume();
        answer.once('end', () => resolve(String(answer.statusCode)));
        answer.once('error', (error) => resolve(error.message));
      },
    );
    requested.once('timeout', () => requested.destroy(new Error('no answer in time')));
    requested.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    requested.end(QUESTION);
  });
}
