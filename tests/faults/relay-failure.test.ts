import assert from 'node:assert/strict';
import { NO_ROUTERS } from '../support/routers/no-routers.ts';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import { mergeRules } from '../../src/accounts/policy/policy.ts';
import { samplePrincipal } from '../support/principal.ts';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { createTextInspector } from '../../src/content-filters/inspector.ts';
import { createHttpClient } from '../../src/lib/net/http-client.ts';
import { createLoopTurns } from '../../src/lib/async/loop-turns.ts';
import { Slots } from '../../src/lib/memory/slots.ts';
import { createResponseMemory } from '../../src/pipeline/replay/replay-memory.ts';
import { createGenerate } from '../../src/pipeline/generate.ts';
import { createWholeResponseMemory } from '../../src/pipeline/response/whole-response-budget.ts';
import { createFileMemory } from '../../src/pipeline/attempt/request/inline-media.ts';
import type { Plugin } from '../../src/plugins/contract.ts';
import { pluginSchema } from '../../src/plugins/index.ts';
import { createProviders } from '../../src/providers/index.ts';
import { createHealth } from '../../src/routing/health.ts';
import { createEndpointStats } from '../../src/routing/stats.ts';
import { createStickySessions } from '../../src/routing/sticky.ts';
import { createMemoryTexts } from '../../src/state/memory/text-cache.ts';
import type { GenerationRecord } from '../../src/telemetry/record.ts';
import { createChatClientFormat, chatUpstreamFormat } from '../../src/wire/chat/format.ts';
import type { ClientFormat } from '../../src/wire/format.ts';
import { chatChunk, sse, startUpstream } from '../support/upstream.ts';
import type { Generate, ResponseWriter } from '../../src/pipeline/request.ts';
import { plainDirectives } from '../support/plain-directives.ts';

const chat = createChatClientFormat({ plugin: pluginSchema });
const HANG_UP_LIMIT_MS = 250;

const REQUEST: GenerationRequest = {
  format: 'chat',
  delivery: 'stream',
  turns: [{ role: 'user', blocks: [{ type: 'text', text: 'hi' }], plain: true }],
  tools: [],
  settings: {},
  directives: plainDirectives('ollama/one'),
  warnings: [],
};

interface Stage {
  readonly generate: Generate;
  /** Settles when the upstream's connection has been dropped. */
  readonly dropped: Promise<void>;
  readonly settled: GenerationRecord[];
  readonly bugs: unknown[];
}

/** A pipeline in front of an upstream that sends one piece of text and never ends. @param breaks or resets after it */
async function setStage(
  t: TestContext,
  totalMs: number,
  {
    clock = systemClock,
    breaks = false,
    plugins = [],
  }: { readonly clock?: Clock; readonly breaks?: boolean; readonly plugins?: readonly Plugin[] } = {},
): Promise<Stage> {
  const dropped = Promise.withResolvers<void>();
  const upstream = await startUpstream((_arrived, response) => {
    response.on('close', () => dropped.resolve());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse([chatChunk({ role: 'assistant', content: 'half' })]), () => {
      if (breaks) response.destroy();
    });
  });
  const http = createHttpClient();
  t.after(async () => {
    await http.close();
    await upstream.close();
  });
  const timeouts = { connectMs: 5_000, headersMs: 5_000, firstTokenMs: 0, idleMs: 5_000, wholeMs: 5_000 };
  const providers = createProviders({ config: [], env: { OLLAMA_HOST: upstream.baseUrl }, timeouts });
  const place = { provider: 'ollama', providerName: 'Ollama', price: { prompt: 1, completion: 2 }, dataPolicy: {} };
  const settled: GenerationRecord[] = [];
  const bugs: unknown[] = [];
  const inspector = createTextInspector();
  const generate = createGenerate({
    inspector,
    allowedPhrases: [],
    judgeTimeoutMs: 1_000,
    http,
    download: () => Promise.reject(new Error('nothing is to be fetched')),
    fileMemory: createFileMemory(1_000),
    wholeResponseMemory: createWholeResponseMemory(1_000_000),
    storedFiles: {
      find: () => Promise.resolve(undefined),
      read: () => Promise.reject(new Error('no file is named')),
    },
    providers,
    byokCredentials: () => () => [],
    byokUpstream: () => Promise.reject(new Error('there is no BYOK credential')),
    formats: { chat: chatUpstreamFormat },
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    health: createHealth({ clock: systemClock }),
    stats: createEndpointStats({ clock: systemClock }),
    sticky: createStickySessions({ clock: systemClock }),
    random: () => 0,
    memory: createResponseMemory({ clock: systemClock }),
    turns: createLoopTurns({ clock: systemClock }),
    catalog: createCatalog(
      [],
      [
        {
          prefix: 'ollama/',
          endpoint: (upstreamModel, model) => ({
            ...place,
            model,
            upstreamModel,
            formats: ['chat'],
            cancellable: true,
          }),
        },
      ],
    ),
    clock,
    rescue: false,
    ledger: {
      isLimited: () => false,
      admit: () => undefined,
      reserve: () => undefined,
      resume: (_principal, _limits, id) => ({ id, counted: [] }),
      settle: () => Promise.resolve(),
      release: () => Promise.resolve(),
    },
    rateLimiter: { enter: () => undefined, admit: () => undefined },
    responseCache: { texts: createMemoryTexts({ clock, bytesMax: 0 }), catalog: createCatalog([], []), clock },
    serverTools: new Map(),
    routers: NO_ROUTERS,
    toolAbilities: {},
    policyOf: () => ({ ...mergeRules([]), limits: [], preferences: [], plugins: [], defaultModel: null }),
    store: (record) => Promise.resolve(void settled.push(record)),
    observe: () => undefined,
    defaults: { provider: {} },
    totalMs,
    region: 'local',
    baseUrl: () => 'http://127.0.0.1/v1',
    takeRoom: () => undefined,
    returnRoom: () => undefined,
    running: new Slots(),
    streams: {
      streamOpened: () => undefined,
      streamClosed: () => undefined,
      requestBegan: () => undefined,
      requestEnded: () => undefined,
    },
    plugins,
    abilities: {},
    onBug: (error) => void bugs.push(error),
  });
  return { generate, dropped: dropped.promise, settled, bugs };
}

interface Seen {
  readonly caller: ResponseWriter;
  readonly frames: string[];
  readonly refused: GatewayError[];
}

/** A caller that waits. @param write what happens when frames are written to it */
function createCaller(write: () => boolean = () => true, drained = (): Promise<void> => Promise.resolve()): Seen {
  const frames: string[] = [];
  const refused: GatewayError[] = [];
  let started = false;
  const caller: ResponseWriter = {
    onGone: () => undefined,
    announce: () => undefined,
    get started() {
      return started;
    },
    startStream: () => void (started = true),
    write(text) {
      frames.push(text);
      return write();
    },
    drained,
    end: (text) => void frames.push(text),
    answer: (_id, json) => void frames.push(json),
    refuse: (error) => void refused.push(error),
  };
  return { caller, frames, refused };
}

function within<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`not within ${ms} ms`)), ms).unref();
  });
  return Promise.race([promise, late]);
}

const requested = (request: GenerationRequest): Parameters<Generate>[0] => ({
  id: 'gen-1',
  request,
  principal: samplePrincipal(),
  arrivedMs: 0,
});

const broken: ClientFormat = {
  ...chat,
  createStreamEncoder: (identity) => ({
    ...chat.createStreamEncoder(identity),
    encode() {
      throw new Error('a bug in an encoder');
    },
    debug: () => '',
    close: () => '',
    fail: () => 'data: [DONE]\n\n',
  }),
};

test('drops the upstream, reports the error and logs the bug when a response cannot be encoded', async (t) => {
  const { generate, dropped, settled, bugs } = await setStage(t, 60_000);
  const { caller, frames, refused } = createCaller();
  await within(generate(requested(REQUEST), broken, caller), 5_000);
  await within(dropped, HANG_UP_LIMIT_MS);
  assert.deepEqual(frames, []);
  assert.equal(refused[0]?.status, 500);
  assert.match(String(bugs), /a bug in an encoder/);
  assert.equal(settled.length, 1);
  assert.equal(settled[0]?.error?.type, 'server');
});

test('drops the upstream and ends the stream when a response cannot be written', async (t) => {
  const { generate, dropped, bugs } = await setStage(t, 60_000);
  let writes = 0;
  const { caller, frames } = createCaller(() => {
    writes += 1;
    throw new Error('a bug in a server');
  });
  await within(generate(requested(REQUEST), chat, caller), 5_000);
  await within(dropped, HANG_UP_LIMIT_MS);
  assert.equal(writes, 1);
  assert.match(frames.at(-1) ?? '', /"error":\{"code":500.*\[DONE\]\n\n$/s);
  assert.equal(bugs.length, 1);
});

for (const delivery of ['stream', 'whole'] as const)
  test(`drops the upstream when the time of a request is over: ${delivery}`, async (t) => {
    // Long enough for the first half to come on a busy machine.
    const { generate, dropped, settled, bugs } = await setStage(t, 2_000);
    const { caller, frames } = createCaller();
    await within(generate(requested({ ...REQUEST, delivery }), chat, caller), 15_000);
    await within(dropped, HANG_UP_LIMIT_MS);
    // The upstream streamed although the request did not: the caller gets what had come, marked as broken.
    assert.match(frames.join(''), /half.*"error":\{"code":408/s);
    assert.equal(settled[0]?.error?.status, 408);
    assert.deepEqual(bugs, []);
  });

for (const [waitMs, isCallersDoing] of [
  [6_000, true],
  [10, false],
] as const)
  test(`counts an upstream that breaks off while the reader waits ${waitMs} ms as ${isCallersDoing ? 'a hang-up of the reader' : 'broken off'}`, async (t) => {
    let laterMs = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => performance.now() + laterMs };
    const { generate, settled } = await setStage(t, 60_000, { clock, breaks: true });
    const { caller, frames } = createCaller(
      () => false,
      () => {
        laterMs += waitMs;
        return Promise.resolve();
      },
    );
    await within(generate(requested(REQUEST), chat, caller), 5_000);
    assert.match(frames.join(''), /half.*"error":\{"code":502/s);
    assert.deepEqual([settled[0]?.failure?.kind, settled[0]?.cancelled], ['reset', isCallersDoing]);
  });

/** Blocks every response with this word. */
const redact = (word: string): Plugin => ({
  id: 'censor',
  summary: 'Of a test.',
  options: z.object({}),
  unrequested: true,
  transformEvents: () => (events) => {
    if (events.some((event) => event.type === 'block-delta' && event.text?.includes(word) === true))
      throw new GatewayError('permission_denied', 'Nobody may read this.');
    return events;
  },
});

test('ends a stream that a plugin stops with its error at once, and drops the upstream', async (t) => {
  const { generate, dropped, settled, bugs } = await setStage(t, 60_000, { plugins: [redact('half')] });
  const { caller, frames } = createCaller();
  await within(generate(requested(REQUEST), chat, caller), 5_000);
  await within(dropped, HANG_UP_LIMIT_MS);
  assert.match(frames.join(''), /"error":\{"code":403.*\[DONE\]\n\n$/s);
  assert.doesNotMatch(frames.join(''), /half/);
  assert.deepEqual([settled.length, settled[0]?.error?.status], [1, 403]);
  assert.deepEqual(bugs, []);
});

test('refuses a response that a plugin stops with its error', async (t) => {
  const { generate, settled } = await setStage(t, 60_000, { breaks: true, plugins: [redact('half')] });
  const { caller, frames, refused } = createCaller();
  await within(generate(requested({ ...REQUEST, delivery: 'whole' }), chat, caller), 5_000);
  assert.deepEqual([frames, refused.map(({ status }) => status)], [[], [403]]);
  assert.equal(settled[0]?.error?.status, 403);
});
