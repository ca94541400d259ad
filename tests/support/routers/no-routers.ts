import { FUSION_PRESETS_DEFAULT } from '../../../src/model-selection/fusion-panel.ts';
import type { RouterDeps } from '../../../src/pipeline/route/model-choice.ts';

/** For gateways that are put together by hand: routers know of no tests and no traffic, and remember nothing. */
export const NO_ROUTERS: RouterDeps = {
  settings: {
    judgeModels: [],
    judgeTimeoutMs: 1_000,
    judgesTasks: false,
    taskThreshold: 0.5,
    defaultModels: [],
    fusion: FUSION_PRESETS_DEFAULT,
  },
  knowledge: {
    priorOf: () => undefined,
    tested: () => [],
    traffic: () => ({ requests: 0, tokens: undefined, standingOf: () => 0 }),
    paidPromptPrice: () => undefined,
  },
  memory: { recall: () => Promise.resolve(undefined), keep: () => undefined },
};
