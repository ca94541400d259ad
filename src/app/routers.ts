import { hash } from 'node:crypto';
import { readScores } from '../catalog/read-data.ts';
import { abilityNamed } from '../catalog/scores.ts';
import type { Model } from '../catalog/model.ts';
import { classifyTask } from '../choosing/classify-task.ts';
import { FUSION_PRESETS_DEFAULT } from '../choosing/fusion-panel.ts';
import { createRankings, type Rankings } from '../choosing/rankings.ts';
import { isTaskTag } from '../choosing/task-tags.ts';
import type { TestedModel } from '../canonical/model-choice.ts';
import type { FusionPreset, FusionPresetName, FusionPresets } from '../canonical/fusion.ts';
import type { Config, RoutersConfig } from '../config/config.ts';
import { ExpiringMap } from '../lib/expiring-map.ts';
import type { ModelKnowledge, RouterMemory, RouterParts } from '../pipeline/model-choice.ts';
import type { SettleParts } from '../pipeline/settle.ts';
import type { SharedParts } from './shared-parts.ts';
import type { TaskTrafficWatch } from '../telemetry/task-traffic.ts';

/** What a router keeps of conversations: some words each. */
const MEMORY_ENTRIES_MAX = 100_000;
const MEMORY_BYTES_MAX = 32 * 1_024 * 1_024;
const MEMORY_MS_MAX = 3_600_000;
/** Requests a second that are looked at for what they are about, though no router asked: that is a small part of a core. */
const TAGS_PER_S_MAX = 20;

/** What routers choose by, of all requests. */
export function createRouterParts(
  { config, clock, state }: Pick<SharedParts, 'config' | 'clock' | 'state'>,
  traffic: TaskTrafficWatch,
): RouterParts {
  return {
    settings: settingsOf(config),
    knowledge: createKnowledge(traffic),
    memory: createRouterMemory({ clock, values: state.values }),
  };
}

function settingsOf({ routers }: { readonly routers: RoutersConfig }): RouterParts['settings'] {
  const { judge, auto, switchyard, fusion } = routers;
  return {
    judgeModels: judge.models,
    judgeTimeoutMs: judge.timeoutMs,
    judgesTasks: auto.judge,
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
}: Pick<SharedParts, 'clock'> & { readonly values: SharedParts['state']['values'] }): RouterMemory {
  const limits = { entriesMax: MEMORY_ENTRIES_MAX, bytesMax: MEMORY_BYTES_MAX, lifetimeMs: MEMORY_MS_MAX };
  const kept = new ExpiringMap<{ readonly value: string; readonly untilMs: number }>(limits, () => clock.monotonicMs());
  const nameOf = (key: string): string => `router:${hash('sha256', key, 'base64')}`;
  return {
    async recall(key) {
      const name = nameOf(key);
      const own = kept.peek(name);
      if (own !== undefined && own.untilMs > clock.monotonicMs()) return own.value;
      return values?.get(name);
    },
    keep(key, value, lifeMs) {
      const name = nameOf(key);
      kept.set(name, { value, untilMs: clock.monotonicMs() + lifeMs }, value.length);
      values?.set(name, value, lifeMs);
    },
  };
}

/** Tells what answered requests were about that no router looked at, as long as that costs little. */
export function createTagger({ config, clock }: { config: Pick<Config, 'routers'> } & Pick<SharedParts, 'clock'>) {
  if (!config.routers.classifiesTraffic) return undefined;
  let secondMs = 0;
  let left = 0;
  return ((record) => {
    // What serves another request is part of it, and a repeated answer took no model.
    const isOwn = record.requestId === record.id && record.cacheSourceId === undefined;
    if (!isOwn || record.end === undefined) return undefined;
    const nowMs = clock.monotonicMs();
    if (nowMs - secondMs >= 1_000) [secondMs, left] = [nowMs, TAGS_PER_S_MAX];
    if (left === 0) return undefined;
    left--;
    return classifyTask(record.request).tag;
  }) satisfies SettleParts['tag'];
}
