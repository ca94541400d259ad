import type { GenerationRequest } from '../../src/canonical/request.ts';
import { COST_TIERS, type CostPreference } from '../../src/model-selection/rank/cost-band.ts';
import { estimateDifficulty } from '../../src/model-selection/classify/difficulty.ts';
import { chooseByExpectedCost } from '../../src/model-selection/rank/expected-cost.ts';
import { rankForTask } from '../../src/model-selection/rank/rank-for-task.ts';
import type { TaskTag } from '../../src/model-selection/classify/task-tags.ts';
import type { Classified } from './classification.ts';
import { decodeItem } from './items.ts';
import { ANSWER_TOKENS, type Candidate, type ModelWorld } from './model-world.ts';
import { bootstrap, mean } from './statistics.ts';

/** One request, its candidate pool, and its task: the true one and the classified one. */
interface Case {
  readonly request: GenerationRequest;
  readonly candidates: readonly Candidate[];
  readonly truth: TaskTag;
  readonly stated: TaskTag;
}

/** The choice of a model. Several models stand for a random choice among them. */
interface Policy {
  readonly name: string;
  readonly choose: (requested: Case) => readonly Candidate[];
}

interface Outcome {
  readonly name: string;
  /** 0 to 1. */
  readonly quality: number;
  readonly regret: number;
  /** Of each request, in the order of the cases. */
  readonly qualities: readonly number[];
  /** USD. */
  readonly costPerThousand: number;
  readonly models: number;
}

const TRADEOFFS = [0, 3, 5, 7, 10] as const;
const DEFAULT: CostPreference = {};

/** Choices of a model against each other: what is lost in quality, and what is paid. */
export function formatRegret(classified: readonly Classified[], world: ModelWorld): string {
  const cases = classified.flatMap(({ item, stated }) => {
    const request = decodeItem(item);
    const candidates = world.candidates(request);
    return candidates.length === 0 ? [] : [{ request, candidates, truth: item.tag, stated: stated.tag }];
  });
  const outcomes = policiesOf(world).map((policy) => measure(policy, cases, world));
  const reference = outcomes.find(({ name }) => name === ALWAYS_BEST)?.costPerThousand ?? 0;
  const rows = outcomes.map(({ name, quality, regret, costPerThousand, models }) =>
    [
      name.padEnd(42),
      quality.toFixed(3).padStart(8),
      regret.toFixed(3).padStart(8),
      costPerThousand.toFixed(2).padStart(10),
      `${((100 * costPerThousand) / reference).toFixed(1)} %`.padStart(10),
      String(models).padStart(8),
    ].join(''),
  );
  const head = `${''.padEnd(42)}${'quality'.padStart(8)}${'regret'.padStart(8)}${'USD/1000'.padStart(10)}${'of best'.padStart(10)}${'models'.padStart(8)}`;
  return [
    `Choice of a model for ${cases.length} of ${classified.length} requests, ${world.modelCount} models in the catalog, ` +
      `${mean(cases.map(({ candidates }) => candidates.length)).toFixed(0)} tested ones may answer on average:`,
    head,
    ...rows,
    '',
    `Knowing the tag that it takes a request for is worth ${formatGain(outcomes, AUTO, AUTO_BLIND)} of quality, with cost_tier high ${formatGain(outcomes, HIGH, HIGH_BLIND)};`,
    `never to be wrong about it would be worth ${formatGain(outcomes, AUTO_REPORTED, AUTO)} and ${formatGain(outcomes, HIGH_REPORTED, HIGH)} more.`,
    '',
    `quality: where the chosen model stands among all tested ones in what the true tag is measured by, 1 the best. regret: what the`,
    `best one for the true tag is above it. Costs at list prices, prompts as estimated, every answer as ${ANSWER_TOKENS} tokens. Nobody has answered`,
    'these requests: this tells what published tests say of the choice, not how good an answer was.',
  ].join('\n');
}

const ALWAYS_BEST = 'always the best on average';
const AUTO = 'service/auto';
const AUTO_REPORTED = 'service/auto, true tag';
const AUTO_BLIND = 'service/auto, no tag';
const HIGH = 'service/auto, cost_tier high';
const HIGH_REPORTED = 'service/auto, cost_tier high, true tag';
const HIGH_BLIND = 'service/auto, cost_tier high, no tag';

/** Of the same requests: how much better the one chose than the other. */
function formatGain(outcomes: readonly Outcome[], name: string, than: string): string {
  const of = (wanted: string): readonly number[] => outcomes.find((one) => one.name === wanted)?.qualities ?? [];
  const others = of(than);
  const gains = of(name).map((quality, at) => quality - (others[at] ?? 0));
  const { from, to } = bootstrap(gains, mean);
  return `${mean(gains).toFixed(3)} (95 %: ${from.toFixed(3)} to ${to.toFixed(3)})`;
}

function policiesOf(world: ModelWorld): readonly Policy[] {
  const top = (candidates: readonly Candidate[], tag: TaskTag): readonly Candidate[] =>
    first(candidates, (one, other) => world.quality(other, tag) - world.quality(one, tag) || one.cost - other.cost);
  const auto = (name: string, preference: CostPreference, tagOf: (requested: Case) => TaskTag): Policy => ({
    name,
    choose: (requested) =>
      named(requested, rankForTask(world.ranked(requested.candidates, tagOf(requested)), 0, preference).chosen[0]),
  });
  const beta = (name: string, preference: CostPreference): Policy => ({
    name,
    choose: (requested) => {
      const { score: difficulty } = estimateDifficulty(requested.request, requested.stated);
      const field = world.ranked(requested.candidates, requested.stated);
      return named(requested, chooseByExpectedCost(field, { ...preference, difficulty, requests: 0 }).chosen[0]);
    },
  });
  const stated = (requested: Case): TaskTag => requested.stated;
  return [
    {
      name: 'always the cheapest',
      choose: ({ candidates }) => first(candidates, (one, other) => one.cost - other.cost),
    },
    { name: 'by lot', choose: ({ candidates }) => candidates },
    { name: ALWAYS_BEST, choose: ({ candidates }) => top(candidates, 'other') },
    { name: 'the best for the true tag', choose: ({ candidates, truth }) => top(candidates, truth) },
    auto(AUTO, DEFAULT, stated),
    auto(AUTO_REPORTED, DEFAULT, ({ truth }) => truth),
    auto(AUTO_BLIND, DEFAULT, () => 'other'),
    ...COST_TIERS.map((tier) => auto(`service/auto, cost_tier ${tier}`, { tier }, stated)),
    auto(HIGH_REPORTED, { tier: 'high' }, ({ truth }) => truth),
    auto(HIGH_BLIND, { tier: 'high' }, () => 'other'),
    ...TRADEOFFS.map((tradeoff) => auto(`service/auto, cost_quality_tradeoff ${tradeoff}`, { tradeoff }, stated)),
    beta('service/auto-beta', DEFAULT),
    ...COST_TIERS.map((tier) => beta(`service/auto-beta, cost_tier ${tier}`, { tier })),
  ];
}

function measure({ name, choose }: Policy, cases: readonly Case[], world: ModelWorld): Outcome {
  const models = new Set<string>();
  const each = cases.map((requested) => {
    const chosen = choose(requested);
    for (const { slug } of chosen) models.add(slug);
    const quality = mean(chosen.map((one) => world.quality(one, requested.truth)));
    const best = Math.max(...requested.candidates.map((one) => world.quality(one, requested.truth)));
    return { quality, regret: best - quality, cost: mean(chosen.map(({ cost }) => cost)) };
  });
  const qualities = each.map(({ quality }) => quality);
  return {
    name,
    qualities,
    quality: mean(qualities),
    regret: mean(each.map(({ regret }) => regret)),
    costPerThousand: 1_000 * mean(each.map(({ cost }) => cost)),
    models: models.size,
  };
}

function first(
  candidates: readonly Candidate[],
  order: (one: Candidate, other: Candidate) => number,
): readonly Candidate[] {
  return candidates.toSorted(order).slice(0, 1);
}

function named({ candidates }: Case, slug: string | undefined): readonly Candidate[] {
  return candidates.filter((candidate) => candidate.slug === slug);
}
