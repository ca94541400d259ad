import type { Authenticate } from '../../accounts/keys/authenticate.ts';
import type { RateLimiter } from '../../accounts/limits/rate-limits.ts';
import type { Presets } from '../../accounts/presets.ts';
import type { ClientFormats } from '../client-formats.ts';
import { createCompactRoute } from '../../http/generation/compact.ts';
import { createCountTokensRoute, type CountRequest } from '../../http/generation/count-tokens.ts';
import { createInputTokensRoute } from '../../http/generation/input-tokens.ts';
import { decodeCohereEmbed } from '../../wire/embeddings/cohere/request-in.ts';
import { createEmbeddingsRoute, type EmbeddingsRouteDeps } from '../../http/generation/embeddings.ts';
import { createDecisionsRoute } from '../../http/generation/decisions.ts';
import { createExplainRoute } from '../../http/generation/explain.ts';
import { createRerankRoute, type RerankRouteDeps } from '../../http/generation/rerank.ts';
import type { WhatIf } from '../../http/console/what-if.ts';
import { largestBody } from '../../http/body-budget.ts';
import type { BodyLimits } from '../../http/read-body.ts';
import { createResponsesDecoder, type DecodeResponses } from '../../http/generation/decode-responses.ts';
import { createResponsesRoute, type KeptResponses } from '../../http/generation/responses.ts';
import type { StoredResponses } from '../../stored-responses/stored-responses.ts';
import { createGenerationRoute, type GenerationRouteDeps, type RawHandler } from '../../http/generation/route.ts';
import { createImagesRoute, type ImagesRouteDeps } from '../../http/generation/images.ts';
import { createVideosRoute } from '../../http/generation/videos.ts';
import type { RunVideo } from '../../video-jobs/run-video.ts';
import { createSpeechRoute } from '../../http/generation/speech.ts';
import { createTranscriptionsRoute, type TranscriptionsRouteDeps } from '../../http/generation/transcriptions.ts';
import type { UnreadResponses } from '../../http/unread-responses.ts';
import { checkAccepted } from '../../pipeline/background/check-accepted.ts';
import { countTokens } from '../../pipeline/count-tokens.ts';
import { decidesNatively } from '../../pipeline/decisions/judge-model.ts';
import { createRunDecision } from '../../pipeline/decisions/run-decision.ts';
import { explainWith } from './explain-with.ts';
import { embeddingsSteps } from '../../pipeline/operation/embed-in-parts.ts';
import { BatchSizes } from '../../pipeline/operation/split-inputs.ts';
import { imageSteps } from '../../pipeline/operation/images/make-pictures.ts';
import { SPEECH_STEPS } from '../../pipeline/operation/speak.ts';
import { TRANSCRIPTION_STEPS } from '../../pipeline/operation/transcribe.ts';
import { DECISION_STEPS } from '../../pipeline/operation/decide-natively.ts';
import { RERANK_STEPS } from '../../pipeline/operation/rerank-in-parts.ts';
import { createRunOperation } from '../../pipeline/operation/run-operation.ts';
import { createGenerate, type GenerateDeps } from '../../pipeline/generate.ts';
import type { ClientFormat } from '../../wire/format.ts';
import type { SharedDeps } from '../shared-deps.ts';

const BODY_IDLE_MS = 15_000;
const BODY_TOTAL_MS = 300_000;
const DECISION_BYTES_MAX = 4_194_304;

/** What one server's routes share. */
export interface GenerationLimits {
  readonly draining: () => boolean;
  readonly bodyLimits: Partial<BodyLimits> | undefined;
  readonly unread: UnreadResponses;
  readonly kept: StoredResponses;
  readonly runVideo: RunVideo;
}

/** The routes that take a body in a caller's format, by their path below the version segment. */
export function generationRoutes(
  { config, clock, metrics, baseUrl, bodies, spool, turns }: SharedDeps,
  { chat, messages, responses }: ClientFormats,
  generateDeps: GenerateDeps,
  authenticate: Authenticate,
  presets: Presets,
  limits: GenerationLimits,
  whatIf?: Pick<WhatIf, 'authenticate' | 'prepare'>,
): Readonly<Record<string, RawHandler>> {
  const deps: GenerationRouteDeps = {
    authenticate,
    generate: createGenerate(generateDeps),
    presets,
    clock,
    bodyLimits: {
      bytesMax: Math.min(config.server.maxBodyBytes, largestBody(config.memory.bodyBytes)),
      idleMs: BODY_IDLE_MS,
      totalMs: BODY_TOTAL_MS,
      ...limits.bodyLimits,
    },
    bodies,
    unread: limits.unread,
    turns,
    allowApiKeyHeader: false,
    baseUrl,
    rename: (name) => generateDeps.catalog.rename?.(name) ?? name,
    draining: limits.draining,
    onRefused: (error, format) => metrics.refused(format, error.status),
    onBug: generateDeps.onBug,
  };
  const messagesParts = { ...deps, allowApiKeyHeader: true };
  const responsesParts = { ...messagesParts, allowAzureHeader: true };
  const enter: RateLimiter['enter'] = (principal, id) => generateDeps.rateLimiter.enter(principal, id);
  const decode = createResponsesDecoder(responses, deps, limits.kept);
  const count: CountRequest = (requested, signal) => countTokens(generateDeps, requested, signal);
  const formBodies = { spool, idleMs: deps.bodyLimits.idleMs, totalMs: deps.bodyLimits.totalMs };
  return {
    '/chat/completions': createGenerationRoute(chat, { ...deps, enter }),
    '/messages': createGenerationRoute(messages, { ...messagesParts, enter }),
    ...responsesRoutes(responses, { ...responsesParts, enter }, { decode, kept: limits.kept, count, generateDeps }),
    ...operationRoutes(
      { ...deps, allowAzureHeader: true, enter },
      { config, formBodies },
      generateDeps,
      limits.runVideo,
    ),
    '/alpha/decisions': createDecisionsRoute({
      ...deps,
      enter,
      bodyLimits: { ...deps.bodyLimits, bytesMax: Math.min(deps.bodyLimits.bytesMax, DECISION_BYTES_MAX) },
      run: createRunDecision({ ...generateDeps, ...deps, ...config.decisions, format: chat }),
      runNative: createRunOperation(generateDeps, DECISION_STEPS),
      isNative: (request) => decidesNatively(generateDeps, request),
    }),
    '/route/explain': createExplainRoute(
      { chat, messages, responses },
      whatIf === undefined ? messagesParts : { ...messagesParts, authenticate: whatIf.authenticate },
      explainWith(config, generateDeps),
      whatIf?.prepare,
    ),
    '/messages/count_tokens': createCountTokensRoute(messages, { ...messagesParts, enter }, count),
  };
}

/** What is no generation, a kind each. */
function operationRoutes(
  deps: Omit<RerankRouteDeps, 'run' | 'defaultModel'>,
  { config, formBodies }: Pick<SharedDeps, 'config'> & Pick<ImagesRouteDeps, 'formBodies'>,
  generateDeps: GenerateDeps,
  runVideo: RunVideo,
): Readonly<Record<string, RawHandler>> {
  const large = { ...deps, bodyLimits: { ...deps.bodyLimits, bytesMax: largestMediaBody(config) }, formBodies };
  const { defaults } = config;
  const run = createRunOperation(generateDeps, imageSteps(config.images.holdNanoUsd));
  return {
    ...embeddingsRoutes({ ...deps, defaultModel: defaults.embeddingsModel }, generateDeps),
    '/videos': createVideosRoute({ ...large, run: runVideo, videoDefaults: { model: defaults.videoModel } }),
    ...imageRoutes({ ...large, defaultModel: defaults.imageModel }, run),
    ...audioRoutes({ ...deps, formBodies }, defaults, generateDeps),
    ...rerankRoutes({ ...deps, defaultModel: defaults.rerankModel }, generateDeps),
  };
}

const MEDIA_BODY_BYTES_MAX = 67_108_864;

/** Pictures stand in it. */
function largestMediaBody({ server, memory }: SharedDeps['config']): number {
  return Math.min(Math.max(server.maxBodyBytes, MEDIA_BODY_BYTES_MAX), largestBody(memory.bodyBytes));
}

function imageRoutes(
  deps: Omit<ImagesRouteDeps, 'run'>,
  run: ImagesRouteDeps['run'],
): Readonly<Record<string, RawHandler>> {
  return {
    '/images': createImagesRoute({ ...deps, run }, 'gateway'),
    '/images/generations': createImagesRoute({ ...deps, run }, 'generation'),
    '/images/edits': createImagesRoute({ ...deps, run }, 'edit'),
  };
}

function audioRoutes(
  deps: Omit<TranscriptionsRouteDeps, 'run' | 'defaultModel'>,
  { transcriptionModel, speechModel }: SharedDeps['config']['defaults'],
  generateDeps: GenerateDeps,
): Readonly<Record<string, RawHandler>> {
  const hearing = {
    ...deps,
    defaultModel: transcriptionModel,
    run: createRunOperation(generateDeps, TRANSCRIPTION_STEPS),
  };
  return {
    '/audio/transcriptions': createTranscriptionsRoute(hearing, 'transcribe'),
    '/audio/translations': createTranscriptionsRoute(hearing, 'translate'),
    '/audio/speech': createSpeechRoute({
      ...deps,
      defaultModel: speechModel,
      run: createRunOperation(generateDeps, SPEECH_STEPS),
    }),
  };
}

function embeddingsRoutes(
  deps: Omit<EmbeddingsRouteDeps, 'run'>,
  generateDeps: GenerateDeps,
): Readonly<Record<string, RawHandler>> {
  const parts = { ...deps, run: createRunOperation(generateDeps, embeddingsSteps(new BatchSizes())) };
  const cohere = createEmbeddingsRoute(parts, decodeCohereEmbed);
  // Cohere's own client calls the second, and the AI SDK's provider of it the last, each below its base URL.
  return { '/embeddings': createEmbeddingsRoute(parts), '/v2/embed': cohere, '/embed': cohere };
}

function rerankRoutes(
  deps: Omit<RerankRouteDeps, 'run'>,
  generateDeps: GenerateDeps,
): Readonly<Record<string, RawHandler>> {
  const rerank = createRerankRoute({ ...deps, run: createRunOperation(generateDeps, RERANK_STEPS) });
  // The second is what clients of Cohere call below their base URL.
  return { '/rerank': rerank, '/v2/rerank': rerank };
}

interface ResponsesDeps {
  readonly decode: DecodeResponses;
  readonly kept: KeptResponses;
  readonly count: CountRequest;
  readonly generateDeps: GenerateDeps;
}

/** `POST /responses` and the routes beside it that take its bodies. */
function responsesRoutes(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  { decode, kept, count, generateDeps }: ResponsesDeps,
) {
  return {
    '/responses': createResponsesRoute(format, deps, decode, kept),
    '/responses/compact': createCompactRoute(format, deps, decode, (of) => checkAccepted(generateDeps, of)),
    '/responses/input_tokens': createInputTokensRoute(format, deps, decode, count),
  };
}
