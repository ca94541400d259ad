import { z } from 'zod';
import type { Config } from '../config.ts';
import { present } from '../present.ts';
import { key } from './key.ts';
import { modelName, optionalSection, timeMs } from './parts.ts';

/** @spec decision-9 */
const DECISION_MS = 30_000;
const JUDGE_MS = 2_000;

const NAME = /^[a-z0-9_-]{1,64}$/;
const temperature = z.number().min(0.05).max(20);

const calibration = z.strictObject({
  model: modelName,
  method: z.enum(['logprobs', 'schema']),
  temperatures: z.strictObject({
    choice: temperature.optional(),
    score: temperature.optional(),
    noul: temperature.optional(),
  }),
});

export const decisionsSection = optionalSection(
  {
    timeout_ms: key(timeMs, 'Until the end of a decision.', { default: DECISION_MS }),
    judge_timeout_ms: key(
      timeMs,
      'How long a request waits for a judge of a guardrail, of moderation or of a router.',
      {
        default: JUDGE_MS,
      },
    ),
    calibrations: key(
      z.preprocess(
        (value) => value ?? {},
        z.record(z.string().regex(NAME, 'must have 1 to 64 of a-z 0-9 _ -'), calibration),
      ),
      'Temperatures by name, as `model-gateway decisions calibrate` finds them.',
      { usual: 'none', example: { triage: { model: 'acme/one', method: 'schema', temperatures: { choice: 1.4 } } } },
    ),
  },
  'Decisions by a judge model: docs/alpha-decisions.md.',
);

/** The section with its defaults. */
export function decisionsOf({
  timeout_ms: timeoutMs = DECISION_MS,
  judge_timeout_ms: judgeTimeoutMs = JUDGE_MS,
  calibrations = {},
}: z.output<typeof decisionsSection>): Config['decisions'] {
  return {
    timeoutMs,
    judgeTimeoutMs,
    calibrations: Object.entries(calibrations).map(([name, { model, method, temperatures }]) => ({
      name,
      model,
      method,
      temperatures: present(temperatures),
    })),
  };
}
