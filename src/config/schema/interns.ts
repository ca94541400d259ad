import { z } from 'zod';
import type { InternsConfig } from '../config.ts';
import { key } from './key.ts';
import { OFF, optionalSection } from './parts.ts';

const RETENTION_DAYS_MAX = 3_650;
const RETENTION_DAYS = 30;
const MS_PER_DAY = 86_400_000;

export const internsSection = optionalSection(
  {
    enabled: key(z.boolean(), 'Agents may be saved and run.', OFF),
    self_drive: key(z.boolean(), 'Agents may run risky tools without an approval, where their settings say so.', OFF),
    retention_days: key(
      z.number().positive().max(RETENTION_DAYS_MAX),
      'How long the texts of a run are kept after its end.',
      { default: RETENTION_DAYS, example: 7 },
    ),
  },
  'Saved agents, their runs and approvals: docs/interns.md.',
);

/** The section with its defaults. */
export function internsOf({
  enabled = false,
  self_drive: selfDrive = false,
  retention_days: days = RETENTION_DAYS,
}: z.output<typeof internsSection>): InternsConfig {
  return { enabled, selfDrive, retentionMs: days * MS_PER_DAY };
}
