import { hash } from 'node:crypto';
import { readScores } from '../catalog/read-data.ts';
import { abilityNamed } from '../catalog/scores.ts';
import type { Model } from '../catalog/model.ts';
import { classifyTask } from '../model-selection/classify/classify-task.ts';
import { FUSION_PRESETS_DEFAULT } from '../model-selection/fusion-panel.ts';
import { createRankings, type Rankings } from '../model-selection/rank/rankings.ts';
import { isTaskTag } from '../model-selection/classify/task-tags.ts';
import type { TestedModel } from '../canonical/model-choice.ts';
import type { FusionPreset, FusionPresetName, FusionPresets } from '../canonical/tools/fusion.ts';
import type { Config, RoutersConfig } from '../config/config.ts';
import { ExpiringCache } from '../lib/cache/expiring-cache.ts';
import type { ModelKnowledge, RouterMemory, RouterDeps } from '../pipeline/route/model-choice.ts';
import type { GenerateDeps } from '../pipeline/generate.ts';
import type { SharedDeps } from './shared-deps.ts';
import type { TaskTrafficWatch } from '../telemetry/task-traffic.ts';

/** What a router keeps of conversations: some words each. */
const MEMORY_ENTRIES_MAX = 100_000;
export const MEMORY_BYTES_MAX = 32 * 1_024 * 1_024;
const MEMORY_MS_MAX = 3_600_000;
/** Requests a second that are classified without a router: a small part of a core. */
const TAGS_PER_S_MAX = 20;

/** What routers choose by, of all requests. */
export function createRouterDeps(
  { config, clock, state }: Pick<SharedDeps, 'config' | 'clock' | 'state'>,
  traffic: TaskTrafficWatch,
): RouterDeps {
  return {
    settings: settingsOf(config),
    knowledge: createKnowledge(traffic),
    memory: createRouterMemory({ clock, values: state.values, part: config.memory.recallPart }),
  };
}

function settingsOf({ routers }: { readonly routers: RoutersConfig }): RouterDeps['settings'] {
  const { judge, auto, switchyard, fusion } = routers;
  return {
    judgeModels: judge.models,
    judgeTimeoutMs: judge.timeoutMs,
    judgesTasks: auto.judge,
    taskThreshold: auto.judgeThreshold,
    defaultModels: auto.defaultModels,
    fusion: withPresets(fusion.presets),
    ...(switchyard.efficient !== undefined && { efficientModel: switchyard.efficient }),
    ...(switchyard.capable !== undefined && { capableModel: switchyard.capable }),
  };
}

/** The operator's presets in place of the usual ones, member by member. */
function withPresets(presets: RoutersConfig['fusion']['presets']): FusionPresets {
  const of = (name: FusionPresetName): FusionPreset => ({ ...FUSION_PRESETS_DEFAULT[name], ...presets[name] });
  return {
    'general-high': of('general-high'),
    'general-budget': of('general-budget'),
    'general-fast': of('general-fast'),
  };
}

function createKnowledge(traffic: TaskTrafficWatch): ModelKnowledge {
  let tested: readonly TestedModel[] | undefined;
  let rankings: Rankings | undefined;
  // Read with the first request that is routed: most gateways have none.
  const all = (): readonly TestedModel[] =>
    (tested ??= Object.entries(readScores()).map(([slug, scores]) => ({ slug, scores })));
  return {
    priorOf(model, taskType) {
      if (!isTaskTag(taskType)) return undefined;
      rankings ??= createRankings(all());
      return rankings.placeOwn(ownScoresOf(model), taskType) ?? rankings.priorOf(plainSlug(model), taskType);
    },
    tested: all,
    traffic: (taskType) => traffic.traffic(taskType),
    paidPromptPrice: (slug) => traffic.paidPromptPrice(slug),
  };
}

function ownScoresOf(model: Model): Parameters<Rankings['placeOwn']>[0] {
  const [coding, agentic, intelligence] = (['coding', 'agentic', 'intelligence'] as const).map((ability) =>
    abilityNamed(model, ability),
  );
  return {
    ...(coding !== undefined && { coding }),
    ...(agentic !== undefined && { agentic }),
    ...(intelligence !== undefined && { intelligence }),
  };
}

/** `a/b:free` is as good as `a/b`. */
function plainSlug({ slug }: Model): string {
  const colon = slug.indexOf(':');
  return colon < 0 ? slug : slug.slice(0, colon);
}

/** In this process, and through the shared state where there is one. */
export function createRouterMemory({
  clock,
  values,
  part = 1,
}: Pick<SharedDeps, 'clock'> & {
  readonly values: SharedDeps['state']['values'];
  /** Of the bytes that it may take at most, from 0 to 1. */
  readonly part?: number;
}): RouterMemory {
  const limits = {
    entriesMax: MEMORY_ENTRIES_MAX,
    bytesMax: Math.floor(MEMORY_BYTES_MAX * part),
    lifetimeMs: MEMORY_MS_MAX,
  };
  const remembered = new ExpiringCache<string>(limits, () => clock.monotonicMs());
  const nameOf = (key: string): string => `router:${hash('sha256', key, 'base64')}`;
  return {
    async recall(key) {
      const name = nameOf(key);
      return remembered.peek(name) ?? values?.get(name);
    },
    keep(key, value, lifeMs) {
      const name = nameOf(key);
      remembered.set(name, value, value.length, lifeMs);
      values?.set(name, value, lifeMs);
    },
  };
}

/** Classifies requests that no router has classified, while their models work, as long as that costs little. */
export function createTagger({
  config,
  clock,
}: { config: Pick<Config, 'routers'> } & Pick<SharedDeps, 'clock'>): Pick<GenerateDeps, 'classify' | 'tag'> {
  if (!config.routers.classifiesTraffic) return {};
  let secondMs = 0;
  let left = 0;
  return {
    classify(log) {
      // What serves another request is part of it, and what the gateway asks for itself is no task of a caller.
      if (log.requestId !== log.id || log.origin !== undefined || log.routerChoice?.taskType !== undefined) return;
      const nowMs = clock.monotonicMs();
      if (nowMs - secondMs >= 1_000) [secondMs, left] = [nowMs, TAGS_PER_S_MAX];
      if (left === 0) return;
      left--;
      // The call goes out first.
      setImmediate(() => void (log.taskType = classifyTask(log.request).tag));
    },
    tag: ({ log, meter }) => (meter.end === undefined ? undefined : log.taskType),
  };
}
