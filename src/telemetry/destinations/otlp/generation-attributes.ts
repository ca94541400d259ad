import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { usdFromNano } from '../../../lib/money.ts';
import type { ExportedGeneration } from '../contract.ts';
import { serializeInputMessages, serializeOutputMessages } from './messages.ts';
import { Double, type Attributes } from './span.ts';

/** Keys of `trace` that have a meaning; the others become attributes. @spec destination-7 */
const TRACE_KEYS: ReadonlySet<string> = new Set([
  'trace_id',
  'trace_name',
  'span_name',
  'generation_name',
  'parent_span_id',
]);

/** Names that the conventions know, by the slug of the provider: the first word of each line. */
const PROVIDER_NAMES: ReadonlyMap<string, string> = new Map(
  `amazon-bedrock aws.bedrock
bedrock aws.bedrock
azure azure.ai.openai
google-ai-studio gcp.gemini
google gcp.gemini
google-vertex gcp.vertex_ai
mistral mistral_ai
xai x_ai
x-ai x_ai
moonshotai moonshot_ai
moonshot moonshot_ai`
    .split('\n')
    .map((line) => {
      const [slug = '', name = ''] = line.split(' ');
      return [slug, name] as const;
    }),
);
const NO_PROVIDER = 'gateway';
const MS_PER_S = 1_000;

export function providerNameOf({ provider }: Pick<ExportedGeneration, 'provider'>): string {
  if (provider === undefined) return NO_PROVIDER;
  return PROVIDER_NAMES.get(provider) ?? provider;
}

/** What the request did, in the words of the conventions. */
export function operationOf({ apiType }: Pick<ExportedGeneration, 'apiType'>): string {
  switch (apiType) {
    case 'embeddings':
    case 'rerank':
    case 'decisions':
      return apiType;
    case 'image':
    case 'stt':
    case 'tts':
    case 'video':
      return 'generate_content';
    case 'chat':
    case 'messages':
    case 'responses':
      break;
  }
  return 'chat';
}

/**
 * Attributes of the span of a generation. What the conventions have no name for stands below `gateway.`, but for
 * `session.id` and `user.id`, which are general ones, and the cost, which tools read there.
 */
export function generationAttributes(generation: ExportedGeneration): Attributes {
  const { context } = generation;
  return {
    ...requestAttributes(generation),
    ...responseAttributes(generation),
    ...usageAttributes(generation),
    ...traceAttributes(generation.trace),
    ...costAttributes(generation),
    ...identityAttributes(generation),
    ...(context !== undefined && {
      'gateway.app.url': context.appUrl,
      'gateway.app.title': context.appTitle,
      'user_agent.original': context.userAgent,
      'gateway.region': context.region,
      'gateway.format': generation.apiType,
      'gateway.attempts': context.attempts.length,
      'gateway.strategy': context.strategy,
      'gateway.router': context.router,
    }),
    ...contentAttributes(generation),
  };
}

function requestAttributes(generation: ExportedGeneration): Attributes {
  const { settings, sessionId, streamed } = generation;
  return {
    'gen_ai.operation.name': operationOf(generation),
    'gen_ai.provider.name': providerNameOf(generation),
    'gen_ai.request.model': generation.modelRequested,
    'gen_ai.request.max_tokens': settings.maxTokens,
    'gen_ai.request.temperature': doubleOf(settings.temperature),
    'gen_ai.request.top_p': doubleOf(settings.topP),
    'gen_ai.request.top_k': doubleOf(settings.topK),
    'gen_ai.request.frequency_penalty': doubleOf(settings.frequencyPenalty),
    'gen_ai.request.presence_penalty': doubleOf(settings.presencePenalty),
    'gen_ai.request.seed': settings.seed,
    'gen_ai.request.stop_sequences': settings.stop,
    'gen_ai.request.stream': streamed || undefined,
    'gen_ai.embeddings.dimension.count': generation.apiType === 'embeddings' ? generation.dimensions : undefined,
    'gen_ai.request.encoding_formats': generation.encodings,
    'gen_ai.output.type': generation.outputType,
    'gen_ai.conversation.id': sessionId,
    'session.id': sessionId,
    'user.id': generation.endUserId,
  };
}

function responseAttributes(generation: ExportedGeneration): Attributes {
  const { error, finishReason, firstTokenMs, startMs, streamed, contentState } = generation;
  return {
    'gen_ai.response.id': generation.id,
    'gen_ai.response.model': generation.model,
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.response.time_to_first_chunk':
      !streamed || firstTokenMs === undefined ? undefined : new Double((firstTokenMs - startMs) / MS_PER_S),
    'error.type': error?.type,
    'gateway.status': generation.status,
    'gateway.streamed': streamed,
    'gateway.cancelled': generation.cancelled || undefined,
    'gateway.cache.hit': generation.isCached || undefined,
    'gateway.content.missing': contentState === 'missing' || undefined,
    'gateway.content.cut': contentState === 'cut' || undefined,
    'gateway.content.refused': contentState === 'refused' || undefined,
  };
}

function usageAttributes({ tokens }: ExportedGeneration): Attributes {
  if (tokens === undefined) return {};
  return {
    'gen_ai.usage.input_tokens': tokens.prompt,
    'gen_ai.usage.output_tokens': tokens.completion,
    'gen_ai.usage.cache_read.input_tokens': tokens.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning,
    'gen_ai.usage.audio.input_tokens': tokens.audioPrompt,
    'gen_ai.usage.audio.output_tokens': tokens.audioCompletion,
    'gen_ai.usage.image.output_tokens': tokens.imageCompletion,
    'gateway.usage.estimated': tokens.estimated || undefined,
  };
}

function costAttributes({ cost }: ExportedGeneration): Attributes {
  if (cost === undefined) return {};
  return {
    'gen_ai.usage.cost': usdDouble(cost.total),
    'gateway.cost.prompt': usdDouble(cost.prompt),
    'gateway.cost.completion': usdDouble(cost.completion),
    'gateway.cost.tools': usdDouble(cost.tools),
    'gateway.cost.byok_list': usdDouble(cost.byokList),
    'gateway.cost.partial': cost.isPartial,
  };
}

function identityAttributes({ identity }: ExportedGeneration): Attributes {
  if (identity === undefined) return {};
  return {
    'gateway.api_key.hash': identity.keyHash,
    'gateway.api_key.name': identity.keyName,
    'gateway.workspace.id': identity.workspaceId,
    'gateway.member.id': identity.memberId,
  };
}

function contentAttributes(generation: ExportedGeneration): Attributes {
  return Object.fromEntries(contentMembers(generation).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Formats whose instructions stand apart from the messages. */
const HAS_INSTRUCTIONS: ReadonlySet<ExportedGeneration['apiType']> = new Set(['messages', 'responses']);

/** What was said, by the name of its attribute. */
export function contentMembers({
  content,
  apiType,
  finishReason,
}: ExportedGeneration): readonly (readonly [string, readonly JsonObject[]])[] {
  if (content === undefined) return [];
  const messages = serializeInputMessages(content);
  const [first] = messages;
  const instructions = HAS_INSTRUCTIONS.has(apiType) && first?.['role'] === 'system' ? first : undefined;
  return [
    ...(instructions === undefined ? [] : [['gen_ai.system_instructions', partsOf(instructions)] as const]),
    ['gen_ai.input.messages', instructions === undefined ? messages : messages.slice(1)],
    ['gen_ai.output.messages', serializeOutputMessages(content, finishReason)],
  ];
}

function partsOf({ parts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

function traceAttributes(trace: JsonObject): Attributes {
  return {
    'trace.name': traceText(trace, 'trace_name'),
    ...Object.fromEntries(traceMembers(trace).map(([key, value]) => [`trace.metadata.${key}`, value])),
  };
}

/** Keys of the caller's `trace` that have no meaning here. */
export function traceMembers(trace: JsonObject): readonly (readonly [string, string | number | boolean])[] {
  return Object.entries(trace).flatMap(([key, value]) => {
    if (TRACE_KEYS.has(key) || value === null || value === undefined) return [];
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return [[key, isPlain ? value : JSON.stringify(value)] as const];
  });
}

export function traceText(trace: JsonObject, key: string): string | undefined {
  const value = trace[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function usdDouble(nanoUsd: number | undefined): Double | undefined {
  return nanoUsd === undefined ? undefined : new Double(usdFromNano(nanoUsd));
}

function doubleOf(value: number | undefined): Double | undefined {
  return value === undefined ? undefined : new Double(value);
}
