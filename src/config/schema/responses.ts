import { z } from 'zod';
import { key } from './key.ts';
import { section, text } from './parts.ts';

const MEMORY_MB_MAX = 65_536;
/** One day: what is to stay longer belongs into the database. */
const MEMORY_MINUTES_MAX = 1_440;
const RETENTION_DAYS_MAX = 3_650;
const KEY_MB_MAX = 1_048_576;
const BACKGROUND_PER_KEY_MAX = 1_000;
const BACKGROUND_MINUTES_MAX = 1_440;
const EVENTS_MINUTES_MAX = 1_440;

const shape = {
  store: key(
    z.enum(['off', 'memory', 'database']),
    'Where responses are kept, so that later requests can continue them: nowhere, in memory (in Redis, where there is one), or in the database.',
    { default: 'memory', example: 'database' },
  ),
  memory_mb: key(
    z.number().positive().max(MEMORY_MB_MAX),
    'Memory of kept responses, of all keys together. The oldest of the key that holds most goes first.',
    { usual: '64, or 1/64 of what the memory limit leaves', example: 64 },
  ),
  memory_minutes: key(
    z.number().positive().max(MEMORY_MINUTES_MAX),
    'How long a response stays in memory after it was used last.',
    { default: 60 },
  ),
  retention_days: key(
    z.number().min(0).max(RETENTION_DAYS_MAX),
    'How long a response stays in the database; 0: until it is deleted.',
    { default: 30 },
  ),
  max_mb_per_key: key(
    z.number().positive().max(KEY_MB_MAX),
    'Space of the kept responses of one key in the database; beyond it the oldest go.',
    { default: 512 },
  ),
  share: key(
    z.enum(['key', 'workspace']),
    'Whether a response can be read and continued by its own key alone, or by every key of the workspace.',
    { default: 'key', example: 'workspace' },
  ),
  background: key(z.boolean(), 'Requests may run in the background. Needs `store: database`.', {
    default: false,
    example: false,
  }),
  background_per_key: key(
    z.int().min(1).max(BACKGROUND_PER_KEY_MAX),
    'Background responses of one key that run at a time; further ones wait.',
    { default: 4 },
  ),
  background_minutes: key(
    z.number().positive().max(BACKGROUND_MINUTES_MAX),
    'The longest time of a background response.',
    { default: 60 },
  ),
  events_minutes: key(
    z.number().positive().max(EVENTS_MINUTES_MAX),
    'How long the stream of a background response can be resumed after its end.',
    { default: 60 },
  ),
  echo: key(
    z.enum(['full', 'terminal', 'none']),
    'Which events of a stream repeat instructions and tools of the request.',
    { default: 'terminal', example: 'full' },
  ),
  length_errors: key(
    z.enum(['failed', 'incomplete']),
    'How a stream ends for which the context is too long: `failed` makes clients shorten it.',
    { default: 'failed', example: 'incomplete' },
  ),
  stream_errors: key(
    z.enum(['status', 'in-band']),
    'Whether a stream that is refused gets a status, or begins and fails, so that clients try again.',
    { default: 'status', example: 'in-band' },
  ),
  auto_cache: key(
    z.boolean(),
    'A request with `prompt_cache_key` and without cache breakpoints gets a moving one where the endpoint needs it.',
    { default: true, example: false },
  ),
  compaction: key(
    z.enum(['native', 'own']),
    'What shortens a history at an endpoint that can do so itself: that endpoint, which alone can read it afterwards, or the gateway, so that every model can.',
    { default: 'native', example: 'own' },
  ),
  codex_models: key(
    z.enum(['off', 'list']),
    'Whether `GET /models` lists models for Codex. `list` needs `codex_instructions_file`.',
    { default: 'off', example: 'off' },
  ),
  codex_instructions_file: key(text, 'A file with the base instructions of the models in that list.', {
    usual: 'none',
    example: '/etc/gateway/instructions.md',
  }),
};

export const responses = z
  .preprocess(
    (value) => value ?? {},
    section(shape).superRefine((entry, context) => {
      const { background, store, codex_models: list, codex_instructions_file: file } = entry;
      if (background === true && store !== 'database')
        context.addIssue({ code: 'custom', path: ['background'], message: 'needs "store: database"' });
      if (list === 'list' && file === undefined)
        context.addIssue({ code: 'custom', path: ['codex_models'], message: 'needs codex_instructions_file' });
    }),
  )
  .meta({ description: 'Responses of `POST /responses` that are kept: docs/responses.md.' });
