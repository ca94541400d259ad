import { z } from 'zod';
import { key } from './key.ts';
import { credential, httpUrl, optionalSection, text } from './parts.ts';

/** @spec filter-17 */
const ALLOWED_PHRASES_MAX = 200;
const ALLOWED_PHRASE_BYTES_MAX = 1_000;

/** Names of the engines that the gateway can search with. */
export const SEARCH_ENGINES = ['exa', 'firecrawl', 'parallel', 'perplexity', 'tavily', 'brave', 'searxng'] as const;

/** The two settings of every service. */
export const service = {
  api_key: key(credential, 'Its credential.', { usual: 'its variable in the environment', example: '${SERVICE_KEY}' }),
  base_url: key(httpUrl, 'Its address.', { usual: 'the usual one', example: 'https://service.example' }),
};
const searchEngine = optionalSection(service, 'docs/web.md');

export const search = optionalSection(
  {
    engine: key(z.enum(SEARCH_ENGINES), 'The engine to use.', {
      usual: 'the first that is configured',
      example: 'exa',
    }),
    exa: searchEngine,
    firecrawl: searchEngine,
    parallel: searchEngine,
    perplexity: searchEngine,
    tavily: searchEngine,
    brave: searchEngine,
    searxng: searchEngine,
  },
  'Web search engines: docs/web.md.',
);

export const fileParser = optionalSection(
  {
    mistral_ocr: optionalSection(
      { ...service, model: key(text, 'Its model.', { usual: 'the newest', example: 'mistral-ocr-latest' }) },
      'OCR for scans: docs/plugins.md.',
    ),
  },
  'The plugin `file-parser`.',
);

const allowedPhrases = z
  .array(
    z
      .string()
      .trim()
      .min(1)
      .refine((phrase) => Buffer.byteLength(phrase) <= ALLOWED_PHRASE_BYTES_MAX, {
        error: `must be at most ${ALLOWED_PHRASE_BYTES_MAX} bytes long`,
      }),
  )
  .max(ALLOWED_PHRASES_MAX)
  .refine((phrases) => new Set(phrases.map((phrase) => phrase.toLowerCase())).size === phrases.length, {
    error: 'must not name a phrase twice; case does not matter',
  });

export const guardrails = optionalSection(
  {
    allowed_phrases: key(allowedPhrases, 'Phrases that the prompt injection detector ignores, in any case.', {
      default: [],
      example: ['ignore previous instructions'],
    }),
  },
  'docs/guardrails.md',
);
