import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { GATEWAY_KEY, START_FLAGS } from '../gateway.ts';
import { MANAGEMENT_KEY } from '../manage.ts';
import { pinThisProcess, startServer, type ServerProcess } from '../processes.ts';
import { median } from '../statistics.ts';
import { MEDIA_LOADS, NARROW, SPEECH, type MediaLoad } from './loads.ts';
import { measureFlows, type FlowResults } from './measure-flows.ts';
import { call, targetOf, type Target, type Targets } from './targets.ts';

/** One kind of request, at the gateway and at the proxy that hands bytes on. */
export interface MediaResult {
  readonly label: string;
  readonly proxyPerS: number;
  readonly gatewayPerS: number;
  /** Inside a round, the middle one of all rounds. */
  readonly ratio: number;
  readonly addedMs: number;
  readonly load: Pick<MediaLoad, 'ratioGoal' | 'ratioMin' | 'addedMsGoal' | 'addedMsMin'>;
}

export interface SpeechResult {
  readonly streams: number;
  /** More than at the proxy, to the first byte, ms. */
  readonly addedFirstP50Ms: number;
  readonly addedFirstP99Ms: number;
}

export interface MediaResults {
  readonly answers: readonly MediaResult[];
  readonly speech: SpeechResult;
  readonly flows: FlowResults;
}

interface MeasureDeps {
  readonly directory: string;
  readonly rounds: number;
  readonly cellMs: number;
  readonly isQuick: boolean;
  readonly note: (line: string) => void;
}

const STREAMS = 100;
const PRICE = {
  prompt: 1,
  completion: 2,
  search_unit: 0.001,
  character: 1,
  images: [{ billable: 'output_image', unit: 'image', cost_usd: 0.01 }],
  second: 0.0001,
  video: { '*': 0.01 },
};
const MODALITIES = {
  embeddings: 'embeddings',
  rerank: 'rerank',
  images: 'image',
  'audio/speech': 'speech',
  'audio/transcriptions': 'transcription',
  videos: 'video',
} as const;
/** Models of the flows. */
const FLOW_MODELS = [
  { path: '/v1/audio/speech', model: 'speak' },
  { path: '/v1/audio/speech', model: 'long' },
  { path: '/v1/audio/transcriptions', model: 'hear' },
  { path: '/v1/embeddings', model: NARROW.model },
  { path: '/v1/videos', model: 'grok-imagine-video' },
  { path: '/v1/videos', model: 'grok-imagine-video-open' },
] as const;

/** The further kinds of requests: whole answers, large and small, and speech at a pace. */
export async function measureMedia({ directory, rounds, cellMs, isQuick, note }: MeasureDeps): Promise<MediaResults> {
  const own = path.join(directory, 'media');
  mkdirSync(own, { recursive: true });
  const mock = await startServer({
    name: 'mock-media',
    args: [path.join(import.meta.dirname, 'mock-media.ts')],
    cpu: 1,
    directory: own,
    hasChannel: false,
  });
  const origin = `http://${mock.host}:${mock.port}`;
  const proxy = await startServer({
    name: 'pipe-media',
    args: [path.join(import.meta.dirname, '..', 'servers', 'thin-proxy.ts'), 'pipe', origin],
    cpu: 0,
    directory: own,
    hasChannel: true,
  });
  const gateway = await startMediaGateway(own, origin);
  const unpin = pinThisProcess();
  try {
    const targets = { proxy: targetOf(proxy, false), gateway: targetOf(gateway, true) };
    const answers: MediaResult[] = [];
    for (const load of MEDIA_LOADS) {
      note(`media: ${load.label}`);
      answers.push(await measureLoad(targets, load, rounds, cellMs));
    }
    note('media: speech');
    const speech = await measureSpeech(targets, rounds);
    const flows = await measureFlows(targets, { mock, rounds, isQuick, note });
    await targets.proxy.pool.close();
    await targets.gateway.pool.destroy();
    return { answers, speech, flows };
  } finally {
    unpin();
    await gateway.stop();
    await proxy.stop();
    await mock.stop();
  }
}

const FACTS: Readonly<Record<string, object>> = {
  'float-only': { embeddings: { encodings: ['float'] } },
  [NARROW.model]: { embeddings: { max_inputs: NARROW.inputs } },
};

/** Every model of the loads, at one provider, and those of clips at another. */
async function startMediaGateway(directory: string, origin: string): Promise<ServerProcess> {
  const models: Record<string, object> = {};
  const paths = [...MEDIA_LOADS, ...FLOW_MODELS];
  for (const { path: route, model } of paths) {
    const kind = Object.entries(MODALITIES).find(([word]) => route.startsWith(`/v1/${word}`))?.[1];
    if (kind === undefined) throw new Error(`no kind of model is called at ${route}`);
    const facts = FACTS[model] ?? {};
    const provider = kind === 'video' ? 'films' : 'mock';
    models[`bench/${model}`] = {
      output_modalities: [kind],
      endpoints: [{ provider, model, price: PRICE, ...facts }],
    };
  }
  const config = {
    providers: {
      mock: { adapter: 'openai-compatible', base_url: `${origin}/v1`, api_key: 'k' },
      films: { adapter: 'xai', base_url: `${origin}/v1`, api_key: 'k' },
    },
    videos: { assets: 'proxy' },
    models,
  };
  const configPath = path.join(directory, 'gateway.json');
  writeFileSync(configPath, JSON.stringify(config));
  const program = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  return startServer({
    name: 'gateway-media',
    args: [...START_FLAGS, program, '--config', configPath, '--port', '0', '--data-dir', path.join(directory, 'data')],
    cpu: 0,
    directory,
    environment: {
      PATH: process.env['PATH'] ?? '',
      GATEWAY_API_KEY: GATEWAY_KEY,
      GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
    },
    hasChannel: false,
  });
}

async function measureLoad(targets: Targets, load: MediaLoad, rounds: number, cellMs: number): Promise<MediaResult> {
  const cells: { proxy: Cell; gateway: Cell }[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const gatewayFirst = round % 2 === 1;
    const first = await runCell(gatewayFirst ? targets.gateway : targets.proxy, load, cellMs);
    const second = await runCell(gatewayFirst ? targets.proxy : targets.gateway, load, cellMs);
    if (round > 0) cells.push(gatewayFirst ? { proxy: second, gateway: first } : { proxy: first, gateway: second });
  }
  const { ratioGoal, ratioMin, addedMsGoal, addedMsMin } = load;
  return {
    label: load.label,
    proxyPerS: median(cells.map(({ proxy }) => proxy.perS)),
    gatewayPerS: median(cells.map(({ gateway }) => gateway.perS)),
    ratio: median(cells.map(({ proxy, gateway }) => gateway.perS / proxy.perS)),
    addedMs: median(cells.map(({ proxy, gateway }) => gateway.p50Ms - proxy.p50Ms)),
    load: {
      ...(ratioGoal !== undefined && { ratioGoal }),
      ...(ratioMin !== undefined && { ratioMin }),
      ...(addedMsGoal !== undefined && { addedMsGoal }),
      ...(addedMsMin !== undefined && { addedMsMin }),
    },
  };
}

interface Cell {
  readonly perS: number;
  readonly p50Ms: number;
}

/** As many requests as the connections take in the time, and those that are open then. */
async function runCell(target: Target, load: MediaLoad, cellMs: number): Promise<Cell> {
  const body = JSON.stringify(load.bodyOf(target.nameOf(load.model)));
  const began = performance.now();
  const tookMs: number[] = [];
  const worker = async (): Promise<void> => {
    do {
      const sentMs = performance.now();
      await call(target, load.path, { body });
      tookMs.push(performance.now() - sentMs);
    } while (performance.now() - began < cellMs);
  };
  await Promise.all(Array.from({ length: load.connections }, worker));
  return { perS: (tookMs.length * 1_000) / (performance.now() - began), p50Ms: median(tookMs) };
}

/** Streams that begin one after the other, all of them open together. */
async function measureSpeech(targets: Targets, rounds: number): Promise<SpeechResult> {
  const p50: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const proxy = await speakTo(targets.proxy);
    const gateway = await speakTo(targets.gateway);
    if (round === 0) continue;
    p50.push(at(gateway, 0.5) - at(proxy, 0.5));
    p99.push(at(gateway, 0.99) - at(proxy, 0.99));
  }
  return { streams: STREAMS, addedFirstP50Ms: median(p50), addedFirstP99Ms: median(p99) };
}

async function speakTo(target: Target): Promise<readonly number[]> {
  const body = JSON.stringify({ model: target.nameOf('speak'), input: 'Hello', voice: 'one', response_format: 'pcm' });
  const apartMs = (SPEECH.chunks * SPEECH.gapMs) / (STREAMS * 2);
  const firsts = await Promise.all(
    Array.from({ length: STREAMS }, async (_none, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * apartMs));
      return (await call(target, '/v1/audio/speech', { body })).firstMs;
    }),
  );
  return firsts.toSorted((left, right) => left - right);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
