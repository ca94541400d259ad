import { z } from 'zod';
import type { Directives, PluginRequest } from '../../canonical/directives.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { HeaderDirectives } from './headers.ts';
import { providerPreferences, decodeProviderPreferences } from './provider-preferences.ts';
import { oneOrMoreStopConditions, decodeStopConditions } from './stop-conditions.ts';

/** @spec request-18: `session_id`. */
const SESSION_ID_CHARS_MAX = 256;
/** @spec request-22: fallback entries of a chat request; `fallbacks` of the messages format has its own, smaller cap. */
const FALLBACK_MODELS_MAX = 10;
/** @spec request-24: above it is clamped. */
const TOOL_CALLS_MAX = 30;
/** Ours: no slug comes near it, and refusals may quote one. */
const SLUG_CHARS_MAX = 1024;
const PRESET_CHARS_MAX = 256;

/** The one transform that there was, and the plugin that it became. @spec chat-44 */
const MIDDLE_OUT = 'middle-out';
const COMPRESSION = 'context-compression';

/** A model slug as callers write it. What it names is looked up later. */
export const modelSlug = z.string().min(1).max(SLUG_CHARS_MAX);

/** The model of a request that is no generation. @throws GatewayError 400 where none is named and there is no default */
export function modelOf(
  { model }: { readonly model?: string | null | undefined },
  defaultModel: string | undefined,
): string {
  const named = model ?? defaultModel;
  if (named === undefined) throw invalid('model', 'is required');
  return named;
}

/** Observability only; unknown keys are the caller's own metadata. @spec request-21 */
const trace = z.looseObject({
  trace_id: z.string().nullish(),
  trace_name: z.string().nullish(),
  span_name: z.string().nullish(),
  generation_name: z.string().nullish(),
  parent_span_id: z.string().nullish(),
});

/**
 * The members that both generation endpoints understand and that are for the gateway. A member that is not nullable
 * refuses null, any other takes it as absent (@spec request-13).
 */
export function gatewayShape({ plugin }: { readonly plugin: z.ZodType<PluginRequest> }) {
  return {
    models: z.array(modelSlug).optional(),
    provider: providerPreferences.nullish(),
    plugins: z.array(plugin).optional(),
    route: z.enum(['fallback', 'sort']).nullish(),
    session_id: z.string().max(SESSION_ID_CHARS_MAX).optional(),
    trace: trace.optional(),
    stop_server_tools_when: oneOrMoreStopConditions.optional(),
    max_tool_calls: z.int().min(0).nullish(),
    preset: z.string().min(1).max(PRESET_CHARS_MAX).nullish(),
    debug: z.looseObject({ echo_upstream_body: z.boolean().optional() }).optional(),
    transforms: z.array(z.literal(MIDDLE_OUT)).nullish(),
    usage: z.looseObject({ include: z.boolean().nullish() }).nullish(),
    // An invalid filter is dropped without a warning, so no shape can be wrong. @spec web-16
    x_search_filter: z.unknown().optional(),
  };
}

/** What a request schema that spreads `gatewayShape` gives. */
export type GatewayFields = z.output<z.ZodObject<ReturnType<typeof gatewayShape>>>;

/**
 * Top-level members that are the gateway's own: no format ever sends them upstream. Not among them are `metadata`, which
 * wires with a store may get, and `model`, which is replaced.
 */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(gatewayShape({ plugin: z.never() })),
  // Messages: entries of the model list.
  'fallbacks',
  // The raw end-user id: only its hash may leave (@spec request-20).
  'user',
  // There is no such field, and exactly one response comes back (@spec request-15).
  'n',
]);

/** Members that each format reads by itself, because their rules differ. */
export interface OwnFields {
  readonly model?: string | undefined;
  /** Models of the messages format's `fallbacks`, after `models`. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly user?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** @throws GatewayError 400 when there are too many models */
export function decodeDirectives(parsed: GatewayFields, headers: HeaderDirectives, own: OwnFields): Directives {
  const { preset, trace: traceGiven, stop_server_tools_when, max_tool_calls } = parsed;
  // An empty id names no session: it would tie all callers that leave it empty to one endpoint.
  const sessionId = parsed.session_id || headers.sessionId;
  return {
    models: decodeModels(parsed.models, own),
    provider: decodeProviderPreferences(parsed.provider, parsed.route),
    plugins: decodePlugins(parsed),
    echoUpstreamBody: parsed.debug?.echo_upstream_body === true,
    serviceMetadata: headers.serviceMetadata,
    betas: headers.betas,
    ...(headers.rescue !== undefined && { rescue: headers.rescue }),
    ...(sessionId && { sessionId }),
    ...(own.user && { user: own.user }),
    ...(traceGiven !== undefined && { trace: withoutNulls(traceGiven) }),
    ...(headers.traceContext !== undefined && { traceContext: headers.traceContext }),
    ...(own.metadata !== undefined && { metadata: own.metadata }),
    ...(stop_server_tools_when !== undefined && { stopServerToolsWhen: decodeStopConditions(stop_server_tools_when) }),
    ...(typeof max_tool_calls === 'number' && { maxToolCalls: Math.min(max_tool_calls, TOOL_CALLS_MAX) }),
    ...(preset && { preset }),
    ...((parsed.x_search_filter ?? undefined) !== undefined && { postFilter: parsed.x_search_filter }),
    ...(headers.app !== undefined && { app: headers.app }),
  };
}

/** `model` first, then the fallbacks, each once. @spec request-22 */
function decodeModels(models: readonly string[] | undefined, own: OwnFields): readonly string[] {
  if (models === undefined && own.fallbacks === undefined) return own.model === undefined ? [] : [own.model];
  const candidates = new Set([
    ...(own.model === undefined ? [] : [own.model]),
    ...(models ?? []),
    ...(own.fallbacks ?? []),
  ]);
  if (candidates.size > FALLBACK_MODELS_MAX + 1)
    throw invalid('models', `must name at most ${FALLBACK_MODELS_MAX} models to fall back to`);
  return [...candidates];
}

/** Of two entries with one id the last wins, and the old `transforms` gives way to any. @spec plugin-4 */
function decodePlugins({
  plugins = [],
  transforms,
}: Pick<GatewayFields, 'plugins' | 'transforms'>): readonly PluginRequest[] {
  if (!transforms && plugins.length < 2) return plugins;
  const compression = transforms && { id: COMPRESSION, enabled: transforms.length > 0, options: {} };
  const all = new Map(plugins.map((plugin) => [plugin.id, plugin]));
  return compression && !all.has(COMPRESSION) ? [...all.values(), compression] : [...all.values()];
}

function withoutNulls(object: Readonly<Record<string, unknown>>): JsonObject {
  const given = Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
  assert(isJsonObject(given), 'what came as JSON is JSON');
  return given;
}
