import type { ParsedFlags } from '../../config/flags.ts';

export const EVAL_FLAGS = {
  models: { type: 'string' },
  'max-cost': { type: 'string' },
  payer: { type: 'string' },
  name: { type: 'string' },
  repeats: { type: 'string' },
  sample: { type: 'string' },
  seed: { type: 'string' },
  concurrency: { type: 'string' },
  'max-tokens': { type: 'string' },
  judge: { type: 'string' },
  rubric: { type: 'string' },
  reference: { type: 'string' },
  'fail-below': { type: 'string' },
  license: { type: 'string' },
  citation: { type: 'string' },
  days: { type: 'string' },
  limit: { type: 'string' },
  workspace: { type: 'string' },
  expected: { type: 'boolean' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
} as const;

export type EvalFlags = ParsedFlags<typeof EVAL_FLAGS>['values'];
