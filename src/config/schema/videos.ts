import { z } from 'zod';
import { key } from './key.ts';
import { httpUrl, optionalSection, text } from './parts.ts';

/** A week: vendors keep no job longer. */
const JOB_HOURS_MAX = 168;
const RETENTION_DAYS_MAX = 3_650;
const POLL_AT_ONCE_MAX = 256;
const SECRET_CHARS_MIN = 24;
const SECRET_CHARS_MAX = 256;

export const videos = optionalSection(
  {
    job_hours: key(z.number().positive().max(JOB_HOURS_MAX), 'How long a job may take; then it has expired.', {
      default: 24,
    }),
    assets: key(
      z.enum(['store', 'proxy']),
      'Whether clips are copied to the directory of files, as far as the quota of the workspace goes, or fetched from the provider whenever they are read.',
      { default: 'store', example: 'proxy' },
    ),
    retention_days: key(z.number().positive().max(RETENTION_DAYS_MAX), 'How long clips can be read.', { default: 7 }),
    poll_at_once: key(z.int().min(1).max(POLL_AT_ONCE_MAX), 'Jobs of one provider that are looked at at a time.', {
      default: 16,
    }),
    webhook_url: key(httpUrl, 'Where the end of a job is reported whose request names no address.', {
      usual: 'nowhere',
      example: 'https://example.com/videos',
    }),
    webhook_secret: key(text.min(SECRET_CHARS_MIN).max(SECRET_CHARS_MAX), 'The secret by which reports are signed.', {
      usual: 'they are not signed',
      example: 'a-long-random-secret-text',
    }),
  },
  'Jobs that make clips: docs/videos.md.',
);
