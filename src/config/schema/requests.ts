import { z } from 'zod';
import { key } from './key.ts';
import { attemptTimeouts, modelName, optionalSection, text, timeMs } from './parts.ts';

const RATE_MAX = 1_000_000_000;
const CONCURRENT_MAX = 1_000_000;
/** @spec route-13 */
const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const;

const slugs = z.array(text);

export const defaults = optionalSection(
  {
    model: key(modelName, 'The model of requests that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/one',
    }),
    image_model: key(modelName, 'The model of requests for pictures in the form of OpenAI that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/brush',
    }),
    embeddings_model: key(modelName, 'The model of requests for vectors that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/vectors',
    }),
    rerank_model: key(modelName, 'The model of requests to order documents that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/order',
    }),
    transcription_model: key(modelName, 'The model of requests for transcripts that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/ear',
    }),
    speech_model: key(modelName, 'The model of requests for speech that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/voice',
    }),
    video_model: key(modelName, 'The model of requests for clips in the form of OpenAI that name none.', {
      usual: 'none: such a request is 400',
      example: 'acme/clip',
    }),
    provider: optionalSection(
      {
        order: key(slugs, 'Providers to try first.', { usual: 'none', example: ['alpha'] }),
        only: key(slugs, 'Providers to use, and no other.', { usual: 'all', example: ['alpha'] }),
        ignore: key(slugs, 'Providers not to use.', { usual: 'none', example: ['beta'] }),
        sort: key(z.enum(SORTS), 'The order of endpoints.', { usual: 'balanced by price', example: 'price' }),
        data_collection: key(z.enum(['allow', 'deny']), 'Whether providers that train on prompts may be used.', {
          usual: 'allow',
          example: 'deny',
        }),
        zdr: key(z.boolean(), 'Whether only endpoints without retention may be used.', {
          usual: 'false',
          example: true,
        }),
      },
      'The field `provider` of requests that have none.',
    ),
  },
  'Defaults of requests.',
);

export const timeouts = optionalSection(
  {
    ...attemptTimeouts({
      connect: 5_000,
      headers: 120_000,
      firstToken: 120_000,
      idle: 120_000,
      whole: 300_000,
      embeddings: 60_000,
      rerank: 30_000,
      image: 300_000,
      transcription: 60_000,
      speechFirstByte: 60_000,
      speechIdle: 30_000,
    }),
    total_ms: key(timeMs, 'A request with all its attempts.', { default: 900_000 }),
    video_submit_ms: key(timeMs, 'Until a provider has accepted a job.', { default: 60_000 }),
    video_poll_ms: key(timeMs, 'Until a provider says how a job stands.', { default: 30_000 }),
  },
  'Time limits of an attempt at a provider, and of a request.',
);

/** A rate limit; an absent one is unlimited. */
const rate = z.int().min(1).max(RATE_MAX);
const requestRate = {
  requests_per_minute: key(rate, 'Requests a minute.', { usual: 'no bound', example: 600 }),
  requests_per_day: key(rate, 'Requests a day.', { usual: 'no bound', example: 50_000 }),
};
const allRates = {
  ...requestRate,
  tokens_per_minute: key(rate, 'Tokens a minute, of prompts and responses together.', {
    usual: 'no bound',
    example: 2_000_000,
  }),
  concurrent: key(z.int().min(1).max(CONCURRENT_MAX), 'Concurrent requests.', {
    usual: 'no bound',
    example: 50,
  }),
};

export const rateLimits = optionalSection(
  {
    key: optionalSection(allRates, 'Each API key.'),
    account: optionalSection(allRates, 'All keys together.'),
    free: optionalSection(allRates, 'All requests for models that end in `:free`.'),
    management: optionalSection(requestRate, 'Each management key, all its calls.'),
  },
  'Rate limits; beyond them: 429.',
);
