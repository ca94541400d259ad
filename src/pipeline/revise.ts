import type { GenerationRequest } from '../canonical/request.ts';
import type { EventReviser, Plugin, PluginAbilities, PluginContext, RequestFitting } from '../plugins/contract.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { CallerRules } from './caller-rules.ts';
import { enablePlugins, isSlugOf, type EnabledPlugin } from './enabled-plugins.ts';

export interface ReviseParts {
  /** All that there are, in the order in which they run. */
  readonly plugins: readonly Plugin[];
  /** Of every request. */
  readonly abilities: PluginAbilities;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
}

export interface ReviseQuestion {
  readonly record: Pick<GenerationRecord, 'report' | 'warn' | 'pluginFeesNanoUsd' | 'fileFeesNanoUsd' | 'forError'>;
  readonly rules: Pick<CallerRules, 'policy'>;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Made for this one request. */
  readonly abilities?: PluginAbilities;
  /** It serves another request. */
  readonly isInside?: boolean;
  /** Suffixes behind the slugs of its models. */
  readonly variants: ReadonlySet<string>;
  readonly endpointsOf: PluginContext['endpointsOf'];
  readonly fund: PluginContext['fund'];
}

/** What the plugins make of a request, and of what comes after. */
export interface Revision {
  readonly request: GenerationRequest;
  /** For endpoints that are too small for it; absent: nobody makes it fit. */
  readonly fitting: RequestFitting | undefined;
  /** For its answer, in the order in which they see it. */
  readonly revisers: readonly EventReviser[];
}

/**
 * Runs the plugins that the request and its account enable, in the order of the registry: each sees what those before it
 * made of the request. At once where none has anything to do. @throws GatewayError 400 for stored options that do not hold any more; whatever a plugin refuses
 * @source generation.md 4 "General"
 */
export function revise(
  parts: ReviseParts,
  asked: GenerationRequest,
  question: ReviseQuestion,
): Revision | Promise<Revision> {
  const { record, rules } = question;
  const { plugins, warnings } = enablePlugins(parts.plugins, asked.directives, rules.policy.plugins, question.variants);
  record.warn(warnings);
  if (plugins.some(({ plugin }) => mayRevise(plugin, asked))) return run(parts, asked, question, plugins);
  return { request: asked, fitting: fittingOf(plugins, asked), revisers: [] };
}

/** More than making it fit small endpoints. */
function mayRevise(plugin: Plugin, request: GenerationRequest): boolean {
  if (plugin.chooseModels === undefined && plugin.reviseRequest === undefined && plugin.reviseEvents === undefined)
    return false;
  return plugin.concerns?.(request) !== false;
}

async function run(
  parts: ReviseParts,
  asked: GenerationRequest,
  question: ReviseQuestion,
  plugins: readonly EnabledPlugin[],
): Promise<Revision> {
  const contexts = plugins.map((enabled) => ({ ...enabled, context: contextOf(parts, asked, question, enabled) }));
  const running = contexts.filter(({ onlyChooses }) => onlyChooses !== true);
  let request = asked;
  for (const { plugin, options, context, onlyChooses } of contexts) {
    if (plugin.chooseModels !== undefined) request = await chooseModels(plugin, request, options, context);
    if (onlyChooses === true || plugin.reviseRequest === undefined) continue;
    request = await plugin.reviseRequest(request, options, context);
  }
  const revised = request;
  return {
    request,
    fitting: fittingOf(running, revised),
    revisers: running.flatMap(({ plugin, options, context }) => plugin.reviseEvents?.(revised, options, context) ?? []),
  };
}

/**
 * The request with models in the place of slugs that stand for a choice, without running anything else.
 * @throws GatewayError 400 for stored options that do not hold any more; 404 when a router finds nobody
 */
export async function chooseOnly(
  parts: ReviseParts,
  asked: GenerationRequest,
  question: ReviseQuestion,
): Promise<GenerationRequest> {
  const { policy } = question.rules;
  const { plugins } = enablePlugins(parts.plugins, asked.directives, policy.plugins, question.variants);
  let request = asked;
  for (const enabled of plugins)
    request = await chooseModels(enabled.plugin, request, enabled.options, contextOf(parts, asked, question, enabled));
  return request;
}

/**
 * What makes a request fit small endpoints, without running anything else.
 * @throws GatewayError 400 for stored options that do not hold any more
 */
export function fitOnly(
  parts: Pick<ReviseParts, 'plugins'>,
  asked: GenerationRequest,
  { policy }: Pick<CallerRules, 'policy'>,
): Revision['fitting'] {
  const { plugins } = enablePlugins(parts.plugins, asked.directives, policy.plugins, new Set());
  return fittingOf(plugins, asked);
}

function contextOf(
  parts: ReviseParts,
  { directives }: GenerationRequest,
  { record, signal, abilities, endpointsOf, fund, isInside = false }: ReviseQuestion,
  { asked, plugin }: EnabledPlugin,
): PluginContext {
  const slug = directives.models.find((model) => isSlugOf(plugin, model));
  return {
    signal,
    asked,
    ...(slug !== undefined && { slug }),
    ...(isInside && { isInside: true as const }),
    abilities: { ...parts.abilities, ...abilities },
    nowMs: parts.nowMs,
    note: (stage) => void record.report.pipeline.push(stage),
    warn: (warning) => record.warn([warning]),
    endpointsOf,
    fund,
    charge(nanoUsd, what) {
      record.pluginFeesNanoUsd += nanoUsd;
      if (what === 'files') record.fileFeesNanoUsd += nanoUsd;
    },
    keepForError: (member, value) => void (record.forError[member] = value),
  };
}

/** The first one: a request is made to fit in one way. */
function fittingOf(plugins: readonly EnabledPlugin[], request: GenerationRequest): RequestFitting | undefined {
  for (const { plugin, options, asked } of plugins) {
    const fitting = plugin.fitRequest?.(request, options, asked);
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
