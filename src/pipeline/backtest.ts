import type { GenerationRecord } from '../accounts/generation-lookup.ts';
import type { Principal } from '../accounts/principal.ts';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../canonical/directives.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';
import { costOf } from '../catalog/price.ts';
import { endpointName } from '../routing/endpoint-name.ts';
import type { EndpointStats } from '../routing/stats.ts';

import { readCallerRules, type RulesDeps } from './admission/caller-rules.ts';
import type { CallerRules } from './request.ts';
import { planFor, type RouteDeps } from './route/choose-route.ts';
import { resolveModels } from './route/resolve-models.ts';

export interface BacktestDeps extends Pick<RouteDeps, 'catalog' | 'defaults' | 'formats' | 'health'>, RulesDeps {
  readonly stats: EndpointStats;
  /** Whose key it was. @throws GatewayError 401 for a key that may not be used any more */
  readonly admitKey: (keyHash: string) => Principal | Promise<Principal>;
}

/** What the same requests would have come to. */
export interface BacktestResult {
  readonly requests: number;
  /** Left out: of kinds that are no generations, of models that the catalog has no more, and of keys that may not be used. */
  readonly skipped: { readonly kind: number; readonly model: number; readonly key: number };
  /** No endpoint would have served them. Their ids, the newest first. */
  readonly unserved: readonly string[];
  readonly unservedCount: number;
  /** That went to another endpoint than now. */
  readonly moved: number;
  /** Sums over those that are served both times and whose price is known both times, nano-USD. */
  readonly costNanoUsd: { readonly before: number; readonly after: number };
  /** Served ones that are in no sum, since a price is unknown. */
  readonly unpriced: number;
  /** Ms to the first token: as it was, and as the endpoints do lately. Null: nothing is known. */
  readonly firstTokenMs: { readonly before: number | null; readonly after: number | null };
  readonly endpoints: readonly BacktestEndpoint[];
}

export interface BacktestEndpoint {
  readonly provider: string;
  readonly model: string;
  readonly before: number;
  readonly after: number;
}

const UNSERVED_MAX = 50;
/** The event loop is given back after so many plans, a few ms. */
const TURN = 200;

/**
 * Plans stored requests again under other preferences, by the code that plans requests. Their content is not known: what a
 * request demanded beside its model, such as tools or pictures, and its own preferences are not part of the plan.
 */
export async function backtest(
  deps: BacktestDeps,
  rows: readonly GenerationRecord[],
  preferences: ProviderPreferences | undefined,
): Promise<BacktestResult> {
  const tally = new Tally(deps.stats);
  const rulesOf = new Map<string, Promise<CallerRules | undefined>>();
  for (const [at, row] of rows.entries()) {
    if (at % TURN === TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    if (!isGeneration(row)) {
      tally.skipped.kind++;
      continue;
    }
    const reading = rulesOf.get(row.keyHash) ?? rulesFor(deps, row.keyHash);
    rulesOf.set(row.keyHash, reading);
    const rules = await reading;
    if (rules === undefined) tally.skipped.key++;
    else tally.count(row, planAgain(deps, rules, row, preferences));
  }
  return tally.result();
}

function isGeneration({ apiType }: GenerationRecord): boolean {
  return apiType === 'chat' || apiType === 'messages' || apiType === 'responses';
}

async function rulesFor(deps: BacktestDeps, keyHash: string): Promise<CallerRules | undefined> {
  try {
    return await readCallerRules(deps, await deps.admitKey(keyHash));
  } catch (error) {
    if (error instanceof GatewayError && error.type === 'authentication') return undefined;
    throw error;
  }
}

/** The first endpoint of the plan; null: none fits; `undefined`: the model is not there any more. */
function planAgain(
  deps: BacktestDeps,
  rules: CallerRules,
  row: GenerationRecord,
  preferences: ProviderPreferences = DEFAULT_PREFERENCES,
): Endpoint | null | undefined {
  const request = stubOf(row, preferences);
  try {
    const resolved = resolveModels(request, undefined, deps.catalog);
    const plan = planFor({ ...deps, random: () => 0 }, rules, { request, resolved });
    const fits = plan.candidates.find(({ endpoint }) => holds(endpoint, row));
    return fits?.endpoint ?? null;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The prompt is not known, but its length is. */
function holds({ contextTokensMax }: Endpoint, { tokensPrompt, tokensCompletion }: GenerationRecord): boolean {
  return contextTokensMax === undefined || tokensPrompt + tokensCompletion <= contextTokensMax;
}

function stubOf({ model }: GenerationRecord, provider: ProviderPreferences): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'stream',
    turns: [{ role: 'user', blocks: [{ type: 'text', text: '' }] }],
    tools: [],
    settings: {},
    directives: {
      models: [model],
      provider,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
  };
}

class Tally {
  readonly skipped = { kind: 0, model: 0, key: 0 };
  readonly #stats: Pick<EndpointStats, 'listed'>;
  readonly #unserved: string[] = [];
  readonly #endpoints = new Map<string, { provider: string; model: string; before: number; after: number }>();
  readonly #firstTokens: { readonly before: number[]; readonly after: number[] } = { before: [], after: [] };
  readonly #cost = { before: 0, after: 0 };
  #requests = 0;
  #unservedCount = 0;
  #moved = 0;
  #unpriced = 0;

  constructor(stats: Pick<EndpointStats, 'listed'>) {
    this.#stats = stats;
  }

  count(row: GenerationRecord, endpoint: Endpoint | null | undefined): void {
    if (endpoint === undefined) {
      this.skipped.model++;
      return;
    }
    this.#requests++;
    if (row.provider !== null && row.status < 400) this.#at(row.provider, row.model).before++;
    if (endpoint === null) {
      this.#unservedCount++;
      if (this.#unserved.length < UNSERVED_MAX) this.#unserved.push(row.id);
      return;
    }
    this.#at(endpoint.provider, endpoint.model).after++;
    if (endpoint.provider !== row.provider || endpoint.upstreamModel !== row.upstreamModel) this.#moved++;
    this.#countCost(row, endpoint);
    if (row.timeToFirstTokenMs !== null) this.#firstTokens.before.push(row.timeToFirstTokenMs);
    const latency = this.#stats.listed(endpointName(endpoint)).latencyLast30m;
    if (latency !== null) this.#firstTokens.after.push(latency.p50);
  }

  #countCost(row: GenerationRecord, { price }: Endpoint): void {
    if (row.status >= 400 || row.isByok) return;
    if (price === undefined || row.costNanoUsd === null) {
      this.#unpriced++;
      return;
    }
    this.#cost.before += row.costNanoUsd;
    const usage = {
      ...NO_USAGE,
      promptTokens: row.tokensPrompt,
      completionTokens: row.tokensCompletion,
      cacheReadTokens: row.tokensCacheRead,
      cacheWriteTokens: row.tokensCacheWrite,
    };
    this.#cost.after += costOf(price, usage, { atMs: row.createdAtMs }).totalNanoUsd;
  }

  #at(provider: string, model: string): { before: number; after: number } {
    const key = `${provider} ${model}`;
    const found = this.#endpoints.get(key) ?? { provider, model, before: 0, after: 0 };
    this.#endpoints.set(key, found);
    return found;
  }

  result(): BacktestResult {
    return {
      requests: this.#requests,
      skipped: this.skipped,
      unserved: this.#unserved,
      unservedCount: this.#unservedCount,
      moved: this.#moved,
      costNanoUsd: this.#cost,
      unpriced: this.#unpriced,
      firstTokenMs: { before: medianOf(this.#firstTokens.before), after: medianOf(this.#firstTokens.after) },
      endpoints: [...this.#endpoints.values()].toSorted(
        (one, other) => other.after - one.after || other.before - one.before,
      ),
    };
  }
}

function medianOf(values: readonly number[]): number | null {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? null;
}
