import { z } from 'zod';
import type { GenerationRecord } from '../../../accounts/generation-lookup.ts';
import type { GenerationTagRow } from '../../../classifiers/classifiers.ts';
import { appIdOf } from '../../../lib/ids.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { OPERATION_KINDS } from '../../../canonical/operation.ts';
import { serializeTime, serializeUsd } from '../../../resources/columns.ts';
import { generationIdOf, responseIdOf } from '../../../wire/responses/response/response-out.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { requestOriginSchema } from './list.ts';
import { isInSight } from './sight.ts';
import { apiTypeOf, routerOf } from './serialize-listed.ts';

const text = z.string().nullable();
const count = z.int().nullable();
const ms = z.number().nullable();

/** @spec generation-1; `@openrouter/sdk` 1.3.19, `GenerationResponse` */
const generationSchema = z
  .strictObject({
    id: z.string(),
    request_id: text,
    session_id: text,
    upstream_id: text,
    created_at: z.iso.datetime(),
    workspace_id: text,
    app_id: z.int().nullable().describe('The same for every request with this `HTTP-Referer`.'),
    external_user: text.describe('The hash under which the end user was known; the `user` of the request is not kept.'),
    preset_id: text,
    api_type: z.enum(['completions', ...OPERATION_KINDS]),
    model: z.string(),
    requested_model: z.string().describe('As the caller spelled it.'),
    api_key_hash: z.string(),
    status: z.int().describe('The HTTP status that the caller saw; 499 where it hung up before the end.'),
    error_type: text,
    error_message: text,
    provider_name: text,
    router: text.describe('What chose the model, when the caller did not.'),
    service_tier: text,
    data_region: z.enum(['global', 'europe', 'us']),
    is_byok: z.boolean(),
    provider_responses: z.array(
      z.strictObject({
        provider_name: z.string(),
        tag: z.string().describe('The slug of the provider.'),
        model_permaslug: z.string(),
        status: z.int().nullable(),
        latency: z.number(),
        is_byok: z.boolean(),
        credential: z.string().optional().describe("The masked label of the account's own credential."),
      }),
    ),
    response_cache_source_id: text,
    response_id: text.describe('Of the response, for requests to `POST /responses`.'),
    previous_response_id: text.describe('The response that it continued.'),
    background: z.boolean().describe('It ran in the background.'),
    streamed: z.boolean(),
    cancelled: z.boolean(),
    finish_reason: text,
    native_finish_reason: text,
    tokens_prompt: count,
    tokens_completion: count,
    native_tokens_prompt: count,
    native_tokens_completion: count,
    native_tokens_reasoning: count,
    native_tokens_cached: count,
    native_tokens_completion_images: count,
    num_media_prompt: count,
    num_media_completion: count,
    num_input_audio_prompt: count,
    num_inputs: count.describe('Texts that vectors were made of, or documents that were ordered.'),
    dimensions: count.describe('Numbers in each vector.'),
    characters: count.describe('Characters that were spoken.'),
    audio_ms: count.describe('Audio that was heard, ms.'),
    output_audio_ms: count.describe('Audio that was made, ms.'),
    output_pixels: count.describe('Of all pictures that were made.'),
    search_units: count.describe('A query with up to a hundred documents is one.'),
    video_ms: count.describe('Clips that were made, ms.'),
    num_search_results: count,
    num_fetches: count,
    num_searches: count.describe('Searches that the provider ran itself.'),
    web_search_engine: text,
    usage: z.number().nullable().describe('USD. Null: the price is unknown, which is not zero.'),
    total_cost: z.number().nullable().describe('USD. Null: the price is unknown, which is not zero.'),
    cost_prompt: z.number().nullable().describe('USD, the part of `total_cost` for what was sent. Null: unknown.'),
    cost_completion: z.number().nullable().describe('USD, the part for what was made. Null: unknown.'),
    cost_other: z
      .number()
      .nullable()
      .describe(
        'USD, the rest: searches, pages, files, tools, and requests that have a price. The three are `total_cost`.',
      ),
    upstream_inference_cost: z.number().nullable().describe('USD; for BYOK credentials only.'),
    upstream_cost: z.number().nullable().describe('USD, as the provider reported it. Null: it reported none.'),
    cache_discount: z
      .number()
      .nullable()
      .describe('USD that the prompt cache saved; negative where writing to it cost more than reading saved.'),
    latency: ms.describe('From arrival to the end, ms.'),
    time_to_first_token: ms,
    generation_time: ms.describe('From the first token to the end, ms.'),
    moderation_latency: ms,
    origin: z.string(),
    request_origin: requestOriginSchema,
    http_referer: text,
    user_agent: text,
    usage_source: z.enum(['upstream', 'estimated', 'none']).describe('The source of the token counts.'),
    task_type: text.describe('The subject of the request; null where it was not classified.'),
    compared_model: text.describe('The most capable model that the router might have chosen.'),
    router_savings: z
      .number()
      .nullable()
      .describe("USD that the router's choice saved against that model at list price; negative: it cost more."),
    tags: z
      .array(z.strictObject({ classifier_id: z.string(), version: z.int(), dimension: z.string(), value: z.string() }))
      .describe('What classifiers made of it.'),
    warnings: z
      .array(z.strictObject({ code: z.string(), path: z.string(), message: z.string() }))
      .describe('What was dropped or changed on the way.'),
  })
  .meta({ id: 'Generation' });

export const getGeneration = defineRoute({
  method: 'GET',
  path: '/generation',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  operationId: 'getGeneration',
  tag: 'Generations',
  summary: 'What is kept of one generation: facts, tokens, cost and attempts, no text',
  params: NOTHING,
  query: z.strictObject({
    id: z
      .string()
      .min(1)
      .max(256)
      .describe('The `id` of the response, in any format, or its `X-Generation-Id` header.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'The record.', schema: z.strictObject({ data: generationSchema }) } },
  errors: [400, 404],
  users: 'narrowed',
  async handle({ query, viewer, services }) {
    const record = await services.generations.find(generationIdOf(query.id) ?? query.id);
    if (record === undefined || !isInSight(viewer, record))
      throw new GatewayError('not_found', 'There is no such generation.');
    const tags = await services.classifiers.tagsOf(record.id);
    return { status: 200, body: { data: { ...serializeGeneration(record), tags: tags.map(serializeTag) } } };
  },
});

function serializeTag({ classifierId, version, dimension, value }: GenerationTagRow) {
  return { classifier_id: classifierId, version, dimension, value };
}

function serializeGeneration(record: GenerationRecord): Omit<z.output<typeof generationSchema>, 'tags'> {
  const cost = serializeUsd(record.costNanoUsd);
  return {
    id: record.id,
    request_id: record.requestId,
    preset_id: record.presetSlug,
    session_id: record.sessionId,
    upstream_id: record.upstreamId,
    created_at: serializeTime(record.createdAtMs),
    workspace_id: record.workspaceId,
    app_id: record.appUrl === null ? null : appIdOf(record.appUrl),
    external_user: record.endUserHash,
    api_type: apiTypeOf(record),
    model: record.model,
    requested_model: record.modelRequested,
    api_key_hash: record.keyHash,
    status: record.status,
    error_type: record.errorType,
    error_message: record.errorMessage,
    provider_name: record.providerName,
    router: routerOf(record),
    service_tier: record.serviceTier,
    data_region: 'global',
    is_byok: record.isByok,
    provider_responses: record.attempts.map((attempt) => ({
      provider_name: attempt.providerName ?? attempt.provider,
      tag: attempt.provider,
      model_permaslug: attempt.model,
      status: attempt.status,
      latency: attempt.latencyMs,
      is_byok: attempt.credential !== undefined,
      ...(attempt.credential !== undefined && { credential: attempt.credential }),
    })),
    response_id: record.apiType === 'responses' ? responseIdOf(record.requestId) : null,
    previous_response_id: record.previousResponseId,
    background: record.background === true,
    streamed: record.streamed,
    cancelled: record.cancelled,
    finish_reason: record.finishReason,
    native_finish_reason: record.nativeFinishReason,
    ...serializeTokens(record),
    usage: cost,
    total_cost: cost,
    cost_prompt: serializeUsd(record.costPromptNanoUsd),
    cost_completion: serializeUsd(record.costCompletionNanoUsd),
    cost_other: serializeUsd(otherCostOf(record)),
    upstream_inference_cost: record.isByok ? serializeUsd(record.listCostNanoUsd) : null,
    upstream_cost: serializeUsd(record.upstreamCostNanoUsd),
    latency: record.latencyMs,
    time_to_first_token: record.timeToFirstTokenMs,
    generation_time: record.generationTimeMs,
    origin: record.appUrl ?? '',
    request_origin: record.origin ?? 'request',
    http_referer: record.appUrl,
    user_agent: record.userAgent,
    num_media_prompt: record.mediaPrompt,
    num_media_completion: record.mediaCompletion,
    num_input_audio_prompt: record.audioPrompt,
    num_fetches: record.webFetches,
    num_searches: record.webSearches,
    cache_discount: serializeUsd(record.cacheDiscountNanoUsd),
    warnings: record.warnings.map(({ code, path, message }) => ({ code, path, message })),
    response_cache_source_id: record.responseCacheSourceId,
    task_type: record.taskType,
    compared_model: record.comparedModel,
    router_savings: serializeUsd(record.savedNanoUsd),
    ...serializeUnits(record),
    ...NOT_KEPT,
  };
}

/** With the other two it is the whole cost, to the nano-USD. */
function otherCostOf({ costNanoUsd, costPromptNanoUsd, costCompletionNanoUsd }: GenerationRecord): number | null {
  if (costNanoUsd === null || costPromptNanoUsd === null || costCompletionNanoUsd === null) return null;
  return costNanoUsd - costPromptNanoUsd - costCompletionNanoUsd;
}

/** Null: the call has none of them. */
function serializeUnits(record: GenerationRecord) {
  return {
    num_inputs: record.inputCount,
    dimensions: record.dimensions,
    characters: record.characters,
    audio_ms: record.audioMs,
    output_audio_ms: record.outputAudioMs,
    output_pixels: record.outputPixels,
    search_units: record.searchUnits,
    video_ms: record.videoMs,
  };
}

/** One count serves as both: the gateway has no tokenizer of its own that would count differently. */
function serializeTokens(record: GenerationRecord) {
  return {
    tokens_prompt: record.tokensPrompt,
    tokens_completion: record.tokensCompletion,
    native_tokens_prompt: record.tokensPrompt,
    native_tokens_completion: record.tokensCompletion,
    native_tokens_reasoning: record.tokensReasoning,
    native_tokens_cached: record.tokensCacheRead,
    native_tokens_completion_images: record.tokensImageCompletion,
    usage_source: record.usageSource,
  };
}

/** Members of the shape for features that do not exist yet. */
const NOT_KEPT = {
  num_search_results: null,
  web_search_engine: null,
  moderation_latency: null,
} as const;
