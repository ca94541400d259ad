import { estimateRequestTokens } from '../../src/canonical/estimate-tokens.ts';
import type { CandidateModel as Serving, ModelChoice, CandidatePool } from '../../src/canonical/model-choice.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { catalogFromConfig } from '../../src/app/catalog/catalog-from-config.ts';
import { readScores } from '../../src/catalog/read-data.ts';
import { FUSION_PRESETS_DEFAULT } from '../../src/model-selection/fusion-panel.ts';
import type { ScoredModel } from '../../src/model-selection/rank/rank-for-task.ts';
import { createRankings } from '../../src/model-selection/rank/rankings.ts';
import { blendedPrice } from '../../src/model-selection/candidates/task-candidates.ts';
import { isTaskTag, type TaskTag } from '../../src/model-selection/classify/task-tags.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { loadKnownModels } from '../../src/app/catalog/live-catalog.ts';
import { openCandidatePool } from '../../src/pipeline/route/candidate-pool.ts';
import { providersFromConfig } from '../../src/app/providers/providers-from-config.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';

/** Vendors that serve their own models, and hosts of open ones: a gateway with a key of each. No provider is called. */
const KEYS = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'MOONSHOT_API_KEY',
  'ZAI_API_KEY',
  'MINIMAX_API_KEY',
  'DASHSCOPE_API_KEY',
  'COHERE_API_KEY',
  'DEEPINFRA_API_KEY',
  'TOGETHER_API_KEY',
  'FIREWORKS_API_KEY',
  'GROQ_API_KEY',
];

/** There are no real responses to these requests, so each counts as this long. */
export const ANSWER_TOKENS = 500;
const TOKENS_PER_MILLION = 1e6;

/** A model that was tested and may answer one request. */
export interface Candidate {
  readonly slug: string;
  /** USD, for the request as it is and an answer of `ANSWER_TOKENS`. */
  readonly cost: number;
  readonly serving: Serving;
}

export interface ModelWorld {
  readonly modelCount: number;
  /** Every model that may serve it and has any test results. */
  candidates(request: GenerationRequest): readonly Candidate[];
  /** 0 to 1, where it stands among all tested models in what the tag is measured by. */
  quality(candidate: Candidate, tag: TaskTag): number;
  /** The ranking of routers without any traffic. */
  ranked(candidates: readonly Candidate[], tag: TaskTag): readonly ScoredModel[];
  /** The same world as the router's own plugin is given it. */
  readonly choice: ModelChoice;
}

/** The built-in catalog, at list prices, with the scores that it ships. */
export async function openWorld(nowMs: number): Promise<ModelWorld> {
  const env = Object.fromEntries(KEYS.map((name) => [name, 'never-sent']));
  const config = loadConfig({ argv: ['--config', 'none.yaml'], env: {}, readFile: () => '' });
  const providers = providersFromConfig(config, env, 'http://127.0.0.1:1/v1');
  const catalog = catalogFromConfig(config, providers, [], await loadKnownModels(providers, nowMs));
  const rankings = createRankings(Object.entries(readScores()).map(([slug, scores]) => ({ slug, scores })));
  const priorOf = (slug: string, tag: TaskTag): number | undefined => rankings.priorOf(slug, tag);
  const fieldOf = (request: GenerationRequest): CandidatePool => {
    const parts = { catalog, stats: { routing: () => undefined }, formats: UPSTREAM_FORMATS };
    return openCandidatePool(parts, request, { preferences: request.directives.provider });
  };
  return {
    modelCount: catalog.list().length,
    candidates(request) {
      const promptTokens = estimateRequestTokens(request);
      return fieldOf(request)
        .models.filter(({ slug }) => !slug.includes(':') && priorOf(slug, 'other') !== undefined)
        .map((serving) => ({ slug: serving.slug, serving, cost: costOf(serving, promptTokens) }));
    },
    quality: ({ slug }, tag) => priorOf(slug, tag) ?? 0,
    ranked: (candidates, tag) =>
      candidates.map(({ slug, serving }) => ({
        slug,
        price: blendedPrice(serving, undefined),
        prior: priorOf(slug, tag),
        share: 0,
      })),
    choice: choiceOf(fieldOf, (slug, tag) => (isTaskTag(tag) ? priorOf(slug, tag) : undefined)),
  };
}

/** There is no traffic, nothing is remembered, and no judge is called. */
function choiceOf(candidatePool: ModelChoice['candidatePool'], priorOf: ModelChoice['priorOf']): ModelChoice {
  const settings = {
    judgeModels: [],
    judgeTimeoutMs: 1,
    judgesTasks: false,
    taskThreshold: 0.5,
    defaultModels: [],
    fusion: FUSION_PRESETS_DEFAULT,
  };
  return {
    settings,
    isRehearsal: true,
    candidatePool,
    priorOf,
    resolve: (slug) => slug,
    tested: () => [],
    traffic: () => ({ requests: 0, tokens: undefined, standingOf: () => 0 }),
    paidPromptPrice: () => undefined,
    random: () => 0,
    remembered: async () => undefined,
    remember: () => undefined,
    decided: () => undefined,
  };
}

function costOf({ promptPrice, completionPrice }: Serving, promptTokens: number): number {
  return (promptTokens * promptPrice + ANSWER_TOKENS * completionPrice) / TOKENS_PER_MILLION;
}
