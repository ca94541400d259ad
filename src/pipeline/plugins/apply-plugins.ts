import type { Decide } from '../../canonical/decisions.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { GenerateNested } from '../../canonical/tools/nested-generation.ts';
import type {
  StreamTransform,
  Plugin,
  PluginAbilities,
  PluginContext,
  RequestFitting,
} from '../../plugins/contract.ts';
import type { MemoryLeases } from '../../lib/memory/memory-leases.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { startedBy } from '../server-tools/nested-generation.ts';
import { enablePlugins, isSlugOf, type EnabledPlugin } from './enabled-plugins.ts';
import type { CallerRules } from '../request.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';

export interface ApplyPluginsDeps {
  /** All that there are, in the order in which they run. */
  readonly plugins: readonly Plugin[];
  /** Of every request. */
  readonly abilities: PluginAbilities;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
}

export interface ApplyPluginsInput {
  readonly log: Pick<RequestLog, 'warn' | 'chargePlugin' | 'errorMetadata' | 'createdMs' | 'noteStep'>;
  readonly report: Pick<RouteReport, 'pipeline'>;
  /** Memory that is released when the request is over. Absent: the request is only explained. */
  readonly memory?: MemoryLeases;
  readonly rules: Pick<CallerRules, 'policy'>;
  /** Aborts when the request is over. */
  readonly cancellation: SignalSource;
  /** Made for this one request. */
  readonly abilities?: PluginAbilities;
  /** Consults judges by these generations. Absent: none is consulted. */
  readonly decideBy?: (generate: GenerateNested) => Decide;
  /** It serves another request. */
  readonly isNested?: boolean;
  /** It consults a judge. */
  readonly isJudge?: boolean;
  /** Suffixes behind the slugs of its models. */
  readonly variants: ReadonlySet<string>;
  readonly endpointsOf: PluginContext['endpointsOf'];
  readonly fund: PluginContext['fund'];
}

/** What the plugins make of a request, and of what comes after. */
export interface RequestTransform {
  readonly request: GenerationRequest;
  /** For endpoints that are too small for it; absent: no plugin makes it fit. */
  readonly fitting: RequestFitting | undefined;
  /** For its answer, in the order in which they see it. */
  readonly streamTransforms: readonly StreamTransform[];
}

/**
 * Runs the plugins that the request and its account enable, in the order of the registry: each sees what those before it
 * made of the request. At once where none has anything to do. @throws GatewayError 400 for stored options that do not hold any more; whatever a plugin refuses
 * @spec plugin-5
 */
export function applyPlugins(
  deps: ApplyPluginsDeps,
  originalRequest: GenerationRequest,
  input: ApplyPluginsInput,
): RequestTransform | Promise<RequestTransform> {
  const { log, rules } = input;
  const { plugins, warnings } = enablePlugins(
    deps.plugins,
    originalRequest.directives,
    rules.policy.plugins,
    input.variants,
  );
  log.warn(warnings);
  if (plugins.some(({ plugin }) => mayTransform(plugin, originalRequest)))
    return run(deps, originalRequest, input, plugins);
  return { request: originalRequest, fitting: fittingOf(plugins, originalRequest), streamTransforms: [] };
}

/** More than making it fit small endpoints. */
function mayTransform(plugin: Plugin, request: GenerationRequest): boolean {
  if (
    plugin.chooseModels === undefined &&
    plugin.transformRequest === undefined &&
    plugin.transformEvents === undefined
  )
    return false;
  return plugin.concerns?.(request) !== false;
}

async function run(
  deps: ApplyPluginsDeps,
  originalRequest: GenerationRequest,
  input: ApplyPluginsInput,
  plugins: readonly EnabledPlugin[],
): Promise<RequestTransform> {
  const contexts = plugins.map((enabled): OpenPlugin => {
    const generations = { count: 0 };
    const context = contextOf(deps, originalRequest, input, enabled, () => generations.count++);
    return { ...enabled, context, generations };
  });
  const running = contexts.filter(({ onlyChooses }) => onlyChooses !== true);
  let request = originalRequest;
  for (const enabled of contexts) request = await timed(deps, input.log, enabled, request);
  const transformed = request;
  return {
    request,
    fitting: fittingOf(running, transformed),
    streamTransforms: running.flatMap(
      ({ plugin, options, context }) => plugin.transformEvents?.(transformed, options, context) ?? [],
    ),
  };
}

interface OpenPlugin extends EnabledPlugin {
  readonly context: PluginContext;
  /** Generations that it has run. */
  readonly generations: { readonly count: number };
}

async function transformBy(
  { plugin, options, context, onlyChooses }: OpenPlugin,
  originalRequest: GenerationRequest,
): Promise<GenerationRequest> {
  const chosen =
    plugin.chooseModels === undefined ? originalRequest : await chooseModels(plugin, originalRequest, options, context);
  if (onlyChooses === true || plugin.transformRequest === undefined) return chosen;
  return plugin.transformRequest(chosen, options, context);
}

/** Notes a plugin that changed the request, refused it, or called a model, for its trace. */
async function timed(
  { nowMs }: Pick<ApplyPluginsDeps, 'nowMs'>,
  log: ApplyPluginsInput['log'],
  enabled: OpenPlugin,
  originalRequest: GenerationRequest,
): Promise<GenerationRequest> {
  const { id } = enabled.plugin;
  const startedMs = nowMs();
  const note = (hasFailed: boolean): void => {
    const startMs = Math.max(0, startedMs - log.createdMs);
    log.noteStep({ kind: 'plugin', key: id, name: id, startMs, durationMs: nowMs() - startedMs, hasFailed });
  };
  try {
    const transformed = await transformBy(enabled, originalRequest);
    if (transformed !== originalRequest || enabled.generations.count > 0) note(false);
    return transformed;
  } catch (error) {
    note(true);
    throw error;
  }
}

/**
 * The request with models in the place of slugs that stand for a choice, without running anything else.
 * @throws GatewayError 400 for stored options that do not hold any more; 404 when a router finds no model
 */
export async function chooseOnly(
  deps: ApplyPluginsDeps,
  originalRequest: GenerationRequest,
  input: ApplyPluginsInput,
): Promise<GenerationRequest> {
  const { policy } = input.rules;
  const { plugins } = enablePlugins(deps.plugins, originalRequest.directives, policy.plugins, input.variants);
  let request = originalRequest;
  for (const enabled of plugins)
    request = await chooseModels(
      enabled.plugin,
      request,
      enabled.options,
      contextOf(deps, originalRequest, input, enabled),
    );
  return request;
}

/**
 * What makes a request fit small endpoints, without running anything else.
 * @throws GatewayError 400 for stored options that do not hold any more
 */
export function fitOnly(
  deps: Pick<ApplyPluginsDeps, 'plugins'>,
  originalRequest: GenerationRequest,
  { policy }: Pick<CallerRules, 'policy'>,
): RequestTransform['fitting'] {
  const { plugins } = enablePlugins(deps.plugins, originalRequest.directives, policy.plugins, new Set());
  return fittingOf(plugins, originalRequest);
}

function contextOf(
  deps: ApplyPluginsDeps,
  { directives }: GenerationRequest,
  {
    log,
    report,
    memory,
    cancellation,
    abilities,
    decideBy,
    endpointsOf,
    fund,
    isNested = false,
    isJudge = false,
  }: ApplyPluginsInput,
  { isRequested, plugin }: EnabledPlugin,
  onGeneration?: () => void,
): PluginContext {
  const slug = directives.models.find((model) => isSlugOf(plugin, model));
  const all = { ...deps.abilities, ...abilities };
  const generate = all.generate && startedBy(all.generate, { kind: 'plugin', key: plugin.id }, onGeneration);
  return {
    signal: cancellation.signal,
    isRequested,
    ...(slug !== undefined && { slug }),
    ...(isNested && { isNested: true as const }),
    ...(isJudge && { isJudge: true as const }),
    abilities: {
      ...all,
      ...(generate !== undefined && { generate }),
      ...(generate !== undefined && decideBy !== undefined && { decide: decideBy(generate) }),
    },
    nowMs: deps.nowMs,
    note: (stage) => void report.pipeline.push(stage),
    warn: (warning) => log.warn([warning]),
    endpointsOf,
    fund,
    charge: (nanoUsd, what) => log.chargePlugin(nanoUsd, what),
    ...(memory !== undefined && { memory }),
    keepForError: (member, value) => void (log.errorMetadata[member] = value),
  };
}

/** The first one: a request is made to fit in one way. */
function fittingOf(plugins: readonly EnabledPlugin[], request: GenerationRequest): RequestFitting | undefined {
  for (const { plugin, options, isRequested } of plugins) {
    const fitting = plugin.fitRequest?.(request, options, isRequested);
    if (fitting !== undefined) return fitting;
  }
  return undefined;
}

async function chooseModels(
  plugin: Plugin,
  request: GenerationRequest,
  options: EnabledPlugin['options'],
  context: PluginContext,
): Promise<GenerationRequest> {
  if (plugin.chooseModels === undefined || !request.directives.models.some((slug) => isSlugOf(plugin, slug)))
    return request;
  const models: string[] = [];
  for (const slug of request.directives.models)
    models.push(...(isSlugOf(plugin, slug) ? await plugin.chooseModels(request, slug, options, context) : [slug]));
  return { ...request, directives: { ...request.directives, models: [...new Set(models)] } };
}
