import { z } from 'zod';
import type { Config, FusionPresetConfig } from '../config.ts';
import { present } from '../present.ts';
import { key } from './key.ts';
import { modelName, OFF, optionalSection, section } from './parts.ts';

/** Slugs that an operator lists for routers, of which the first available one is used. */
const ROUTER_MODELS_MAX = 32;
/** @spec fusion-2 */
const PANEL_MODELS_MAX = 8;
/** Every request that goes to a judge waits for it. */
const JUDGE_TIMEOUT_MS_MAX = 60_000;
const TASK_THRESHOLD = 0.5;

/** One place of a panel: a slug, or several of which the first available one takes it. */
const fusionSlot = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(modelName).min(1).max(ROUTER_MODELS_MAX),
);

/** What is left out of a preset is as usual. */
const fusionPreset = key(
  section({
    analysis_models: key(
      z.array(fusionSlot).min(1).max(PANEL_MODELS_MAX),
      'The panel: a model, or a list of alternatives, for each place.',
      {
        usual: 'docs/fusion.md',
        example: ['acme/one', ['acme/two', 'acme/one']],
      },
    ),
    model: key(fusionSlot, 'The analyst: a model, or several, of which the first available one is used.', {
      usual: 'docs/fusion.md',
      example: 'acme/one',
    }),
  }),
  'docs/fusion.md',
);

export const routers = optionalSection(
  {
    classify_traffic: key(z.boolean(), 'Classifies a sample of the requests without a router, on this machine.', {
      default: true,
    }),
    judge: optionalSection(
      {
        models: key(z.array(modelName).min(1).max(ROUTER_MODELS_MAX), 'The first available one is used.', {
          usual: 'docs/routers.md',
          example: ['acme/one'],
        }),
        timeout_ms: key(z.int().min(1).max(JUDGE_TIMEOUT_MS_MAX), 'Time limit of a verdict.', { default: 10_000 }),
      },
      'The model that gives routers a verdict.',
    ),
    auto: optionalSection(
      {
        judge: key(z.boolean(), 'Calls the judge when keywords are inconclusive.', OFF),
        judge_threshold: key(z.number().min(0).max(1), 'Its verdict counts from this probability on.', {
          default: TASK_THRESHOLD,
        }),
        default_models: key(
          z.array(modelName).min(1).max(ROUTER_MODELS_MAX),
          'Models to use when no model is ranked.',
          {
            usual: 'docs/routers.md',
            example: ['acme/one'],
          },
        ),
      },
      '`service/auto`',
    ),
    switchyard: optionalSection(
      {
        efficient: key(modelName, 'For easy turns.', { usual: 'chosen', example: 'acme/one' }),
        capable: key(modelName, 'For hard turns.', { usual: 'chosen', example: 'acme/two' }),
      },
      '`service/switchyard`',
    ),
    fusion: optionalSection(
      {
        presets: optionalSection(
          { 'general-high': fusionPreset, 'general-budget': fusionPreset, 'general-fast': fusionPreset },
          'Panels by name.',
        ),
      },
      '`service/fusion`: docs/fusion.md.',
    ),
  },
  'Routers: docs/routers.md.',
);

const JUDGE_MODELS = ['~google/gemini-flash-latest', '~openai/gpt-mini-latest', '~anthropic/claude-haiku-latest'];
const JUDGE_TIMEOUT_MS = 10_000;
const DEFAULT_MODELS = [
  '~anthropic/claude-sonnet-latest',
  '~openai/gpt-mini-latest',
  '~google/gemini-flash-latest',
  '~deepseek/deepseek-flash-latest',
];

/** The section with its defaults. */
export function routersOf(entry: z.output<typeof routers>): Config['routers'] {
  const { classify_traffic, judge, auto, switchyard, fusion } = entry;
  return {
    classifiesTraffic: classify_traffic ?? true,
    judge: { models: judge.models ?? JUDGE_MODELS, timeoutMs: judge.timeout_ms ?? JUDGE_TIMEOUT_MS },
    auto: {
      judge: auto.judge ?? false,
      judgeThreshold: auto.judge_threshold ?? TASK_THRESHOLD,
      defaultModels: auto.default_models ?? DEFAULT_MODELS,
    },
    switchyard: present(switchyard),
    fusion: {
      presets: present({
        'general-high': presetOf(fusion.presets['general-high']),
        'general-budget': presetOf(fusion.presets['general-budget']),
        'general-fast': presetOf(fusion.presets['general-fast']),
      }),
    },
  };
}

function presetOf(entry: z.output<typeof fusionPreset> | undefined): FusionPresetConfig | undefined {
  return entry && present({ panel: entry.analysis_models, analyst: entry.model });
}
