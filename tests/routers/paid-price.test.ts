import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import type { CandidateModel, ModelChoice } from '../../src/canonical/model-choice.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { NO_USAGE } from '../../src/canonical/usage.ts';
import { costOf } from '../../src/catalog/price.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import type { PluginContext } from '../../src/plugins/contract.ts';
import { paretoRouter } from '../../src/plugins/pareto-router/plugin.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createAppender } from '../support/store/append.ts';
import { createTaskTrafficStore } from '../../src/store/usage/task-traffic.ts';
import { ENGINES } from '../support/store/engines.ts';
import { sampleGeneration } from '../support/store/generations.ts';
import { watchTaskTraffic, type TaskTrafficWatch } from '../../src/telemetry/task-traffic.ts';
import { NO_ROUTERS } from '../support/routers/no-routers.ts';
import { plainDirectives } from '../support/plain-directives.ts';

const NOW_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SLUG = 'service/pareto-code';

/** Dear at list, and nine tenths of its prompts come out of a cache: 0.9 x 0.5 + 0.1 x 5 = 0.95 USD a million. */
const CACHED = { model: 'acme/cached', list: 5, cacheRead: 0.5 };
const PLAIN = { model: 'acme/plain', list: 3, cacheRead: 3 };
const PICO_PER_USD_A_MILLION = 1e6;

/** What is stored of an answer to a prompt of a million tokens. */
function answerOf({ model, list, cacheRead }: typeof CACHED, id: string, atMs: number) {
  const price = {
    prompt: list * PICO_PER_USD_A_MILLION,
    completion: 0,
    cacheRead: cacheRead * PICO_PER_USD_A_MILLION,
  };
  const usage = { ...NO_USAGE, promptTokens: 1_000_000, cacheReadTokens: 900_000 };
  const { promptNanoUsd } = costOf(price, usage, { atMs, promptImages: 0 });
  return sampleGeneration({
    id,
    model,
    createdAtMs: atMs,
    tokensPrompt: usage.promptTokens,
    costPromptNanoUsd: promptNanoUsd,
  });
}

function serving({ model, list }: typeof CACHED): CandidateModel {
  return {
    slug: model,
    name: model,
    promptPrice: list,
    completionPrice: 0,
    isFree: false,
    scores: new Map(),
    coding: 0.9,
    throughput: () => undefined,
  };
}

/** The first model of the pareto router. */
async function choose(traffic: TaskTrafficWatch, source?: 'prompt' | 'weighted_avg'): Promise<string | undefined> {
  const choice: ModelChoice = {
    ...NO_ROUTERS.knowledge,
    settings: NO_ROUTERS.settings,
    isRehearsal: false,
    candidatePool: () => ({ models: [serving(CACHED), serving(PLAIN)], leftOut: [] }),
    resolve: (slug) => slug,
    priorOf: () => undefined,
    paidPromptPrice: (slug) => traffic.paidPromptPrice(slug),
    random: () => 0,
    remembered: () => Promise.resolve(undefined),
    remember: () => undefined,
    decided: () => undefined,
  };
  const context: PluginContext = {
    signal: new AbortController().signal,
    abilities: { choice },
    note: () => undefined,
  } as unknown as PluginContext;
  const request: GenerationRequest = {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools: [],
    settings: {},
    directives: plainDirectives(SLUG),
    warnings: [],
  };
  const [first] = await paretoRouter.chooseModels(
    request,
    SLUG,
    source === undefined ? {} : { price_source: source },
    context,
  );
  return first;
}

for (const engine of ENGINES)
  suite(`paid prices, ${engine.name}`, async () => {
    const place = await engine.makePlace();
    const database = await openDatabase({ ...place, clock });
    after(async () => {
      await database.close();
      await place.remove();
    });
    /** As many answers of a model as are stored, in this many hours before now. */
    async function store(of: typeof CACHED, count: number, hoursAgo: number): Promise<void> {
      const generations = createAppender(database);
      const atMs = NOW_MS - hoursAgo * HOUR_MS;
      for (let at = 0; at < count; at++)
        await generations.append(answerOf(of, `${of.model}-${hoursAgo}-${at}`, atMs + at));
    }
    async function watch(nowMs: number): Promise<TaskTrafficWatch> {
      const traffic = watchTaskTraffic(createTaskTrafficStore(database), 0);
      while (await traffic.step(nowMs));
      return traffic;
    }

    test('ignore few responses', async () => {
      await store(CACHED, 49, 30);
      const traffic = await watch(NOW_MS);
      assert.equal(traffic.paidPromptPrice(CACHED.model), undefined);
      assert.equal(await choose(traffic, 'weighted_avg'), PLAIN.model);
    });

    test('make a dear model with cache reads the cheapest on request', async () => {
      await store(CACHED, 1, 2);
      const traffic = await watch(NOW_MS);
      assert.equal(traffic.paidPromptPrice(CACHED.model), 0.95);
      assert.equal(await choose(traffic, 'weighted_avg'), CACHED.model);
      assert.equal(await choose(traffic, 'prompt'), PLAIN.model);
      assert.equal(await choose(traffic), PLAIN.model);
    });

    test('yield to the list price after a week', async () => {
      const traffic = await watch(NOW_MS + 7 * DAY_MS);
      assert.equal(traffic.paidPromptPrice(CACHED.model), undefined);
      assert.equal(await choose(traffic, 'weighted_avg'), PLAIN.model);
    });
  });
