import type { z } from 'zod';
import type { Config } from '../config.ts';
import { key } from './key.ts';
import { optionalSection, timeMs } from './parts.ts';

/** @spec decision-9 */
const DECISION_MS = 30_000;
const JUDGE_MS = 2_000;

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
  },
  'Decisions by a judge model: docs/alpha-decisions.md.',
);

/** The section with its defaults. */
export function decisionsOf({
  timeout_ms: timeoutMs = DECISION_MS,
  judge_timeout_ms: judgeTimeoutMs = JUDGE_MS,
}: z.output<typeof decisionsSection>): Config['decisions'] {
  return { timeoutMs, judgeTimeoutMs };
}
