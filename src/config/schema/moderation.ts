import { z } from 'zod';
import type { Config } from '../config.ts';
import { key } from './key.ts';
import { modelName, optionalSection, text } from './parts.ts';
import { service } from './services.ts';

/** A category is found where it is the likelier answer. */
const THRESHOLD = 0.5;

export const moderation = optionalSection(
  {
    endpoint: optionalSection(
      { ...service, model: key(text, 'Its model.', { usual: 'the newest', example: 'omni-moderation-latest' }) },
      "An endpoint that speaks OpenAI's `POST /moderations`.",
    ),
    judge: key(modelName, 'A model that judges, used without an endpoint.', { usual: 'none', example: 'acme/one' }),
    threshold: key(z.number().min(THRESHOLD).max(1), 'The judge flags a category from this probability on, 0.5 to 1.', {
      default: THRESHOLD,
    }),
    on_error: key(
      z.enum(['allow', 'block']),
      'What becomes of a request without a verdict: `allow` notes it, `block` refuses it.',
      { default: 'allow' },
    ),
  },
  'The plugin `moderation`: docs/guardrails.md.',
);

/** The section with its defaults, beside the endpoint. */
export function moderationSettingsOf({
  judge,
  threshold = THRESHOLD,
  on_error: onError = 'allow',
}: z.output<typeof moderation>): Omit<Config['moderation'], 'endpoint'> {
  return { threshold, onError, ...(judge !== undefined && { judge }) };
}
