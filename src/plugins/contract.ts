import { z } from 'zod';
import type { EventBatch } from '../canonical/events.ts';
import type { FormatId, Warning } from '../canonical/extra.ts';
import type { MemoryLeases } from '../lib/memory/memory-leases.ts';
import type { Json } from '../lib/json.ts';
import type { Decide } from '../canonical/decisions.ts';
import type { GenerateNested } from '../canonical/tools/nested-generation.ts';
import type { ModelChoice } from '../canonical/model-choice.ts';
import type { Moderation } from '../canonical/tools/moderation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { PipelineStage } from '../canonical/route-report.ts';
import type { FileReader } from '../canonical/tools/parsed-file.ts';
import type { WebSearch } from '../canonical/tools/web-search.ts';

/**
 * Abilities of plugins beyond transforming a request, with their types in `canonical/`. The composition root builds them;
 * one that is not configured is absent.
 */
export interface PluginAbilities {
  readonly search?: WebSearch;
  readonly files?: FileReader;
  readonly generate?: GenerateNested;
  /** Consults a judge. */
  readonly decide?: Decide;
  readonly moderation?: Moderation;
  /** Absent when no router may choose, as for counting tokens. */
  readonly choice?: ModelChoice;
}

/** The context of a plugin's hooks for one request. */
export interface PluginContext {
  /** Aborts when the response is no longer needed. */
  readonly signal: AbortSignal;
  /** The caller, or the account's defaults, named the plugin. Otherwise it runs by default (`unrequested`). */
  readonly isRequested: boolean;
  /** The plugin's own slug that the request names, the first of several, unchanged. */
  readonly slug?: string;
  /** A nested request, of a panel or an advisor. */
  readonly isNested?: true;
  /** The request of a judge, which is not judged itself. */
  readonly isJudge?: true;
  readonly abilities: PluginAbilities;
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** Records a stage. A plugin without effect records none. */
  note(stage: PipelineStage): void;
  /** Warns of dropped or changed parts of the request, in addition to the stage. */
  warn(warning: Warning): void;
  /**
   * The endpoints that may serve the request, before one is chosen.
   * @throws GatewayError 400 or 404 for its models: nothing that costs money begins for a slug that does not exist
   */
  endpointsOf(request: GenerationRequest): readonly EndpointFacts[];
  /**
   * Reserves money of the caller for a coming fee, in nano-USD; what is not charged is released at the end.
   * @throws GatewayError 402 or 403 when too little is left
   */
  fund(nanoUsdMax: number): Promise<void>;
  /** A fee in nano-USD that is due whatever happens to the request. @param what its kind, for reports */
  charge(nanoUsd: number, what: 'web' | 'files'): void;
  /** Memory of a shared budget, leased until the end of the request. */
  readonly memory?: Pick<MemoryLeases, 'add'>;
  /** Adds a field to `error.metadata`, in case the request fails. */
  keepForError(member: string, value: Json): void;
}

/**
 * Transforms the response, one batch a call, in one synchronous pass. It may hold events back, but must return all of
 * them with the batch that contains `end` or `failed`, and keep the grammar of `GenerationEvent`. A response that
 * breaks off without either is ended with a `failed` for it. A changed delta must drop its `frame`.
 * @throws GatewayError when the caller must not get the response, or no more of it: it ends with this error
 */
export type StreamTransform = (events: EventBatch) => EventBatch;

/**
 * The facts about an endpoint that plugins see. In tokens; absent: unknown, which excludes nothing. Parameters and
 * vendors' own tools are listed as in `catalog/model.ts`.
 */
export interface EndpointFacts {
  readonly contextTokensMax?: number;
  readonly outputTokensMax?: number;
  readonly inputModalities?: readonly string[];
  readonly supportedParameters?: ReadonlySet<string>;
  readonly nativeTools?: boolean;
  /** It is the vendor's of the responses format. */
  readonly openTools?: boolean;
  readonly searchFormat?: FormatId;
  /** Most native first. */
  readonly formats?: readonly FormatId[];
  readonly outputModalities?: readonly string[];
}

/** Fits one request to endpoints whose context is too small for it. */
export interface RequestFitting {
  /** The request enables it. */
  readonly isRequested: boolean;
  /**
   * @param endpoints all endpoints of the requested models
   * @returns for each whether it is worth a try; `undefined`: it gets the request unchanged, if it can read that
   */
  judge(endpoints: readonly EndpointFacts[]): (endpoint: EndpointFacts) => boolean | undefined;
  /**
   * @param format of the call to the endpoint
   * @returns the request for this endpoint with its stage and warning; `undefined`: unchanged
   */
  fit(
    request: GenerationRequest,
    endpoint: EndpointFacts,
    format: FormatId,
  ): { readonly request: GenerationRequest; readonly stage: PipelineStage; readonly warning: Warning } | undefined;
}

/**
 * A feature that callers enable in `plugins`, with at least one hook. Hooks never throw for faults of callers or
 * upstreams, except a `GatewayError`.
 */
export interface Plugin<Options extends z.ZodObject = z.ZodObject> {
  /** The id in requests, and the name of the plugin's folder. */
  readonly id: string;
  /** What it does, in one sentence. */
  readonly summary: string;
  /** The schema of an entry, without `id` and `enabled`. */
  readonly options: Options;
  /** Model slugs of this router, which work whether or not the plugin is listed. */
  readonly slugs?: readonly string[];
  /** A suffix of a model's slug that enables the plugin. @spec model-15 */
  readonly variant?: string;
  /** It runs for every request without `enabled: false`; the context tells its hooks whether it was requested. */
  readonly unrequested?: true;
  /**
   * A cheap check whether the plugin may have an effect on the request; plugins run only if one of them may. Absent: always.
   */
  concerns?(request: GenerationRequest): boolean;
  /**
   * Chooses the models for one of the plugin's slugs.
   * @param slug one of `slugs`, unchanged, maybe with a suffix after a colon
   * @returns the slugs that replace it, best first
   * @throws GatewayError 404 when nothing satisfies the options
   */
  chooseModels?(
    request: GenerationRequest,
    slug: string,
    options: z.output<Options>,
    context: PluginContext,
  ): Promise<readonly string[]>;
  /**
   * @returns the transformed request; the same object if nothing changed
   * @throws GatewayError 403 when the request must not be served
   */
  transformRequest?(
    request: GenerationRequest,
    options: z.output<Options>,
    context: PluginContext,
  ): Promise<GenerationRequest>;
  /**
   * @param isRequested the request or a default names the plugin
   * @returns what fits the request to endpoints, or `undefined` if nothing must be fitted
   */
  fitRequest?(request: GenerationRequest, options: z.output<Options>, isRequested: boolean): RequestFitting | undefined;
  /** @returns the transform of this response, or `undefined` if it needs none */
  transformEvents?(
    request: GenerationRequest,
    options: z.output<Options>,
    context: PluginContext,
  ): StreamTransform | undefined;
}

/** @spec router-13 */
const PATTERNS_MAX = 1024;
const PATTERN_CHARS_MAX = 1024;
const PATTERNS_CHARS_TOTAL_MAX = 65_536;

const modelPatterns = z
  .array(z.string().max(PATTERN_CHARS_MAX))
  .max(PATTERNS_MAX)
  .refine((patterns) => patterns.reduce((total, pattern) => total + pattern.length, 0) <= PATTERNS_CHARS_TOTAL_MAX, {
    error: `must have at most ${PATTERNS_CHARS_TOTAL_MAX} characters in total`,
  })
  .optional();

/** Options that both auto routers take. @spec router-13 */
export const routerOptions = z.object({
  /** Slug patterns in which `*` stands for any run of characters. */
  allowed_models: modelPatterns,
  /** Applied after `allowed_models`: it always wins. */
  excluded_models: modelPatterns,
  /** A band of the models' cost percentiles. */
  cost_tier: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Deprecated: `cost_tier` takes precedence. Higher is cheaper; 9 when neither is given. */
  cost_quality_tradeoff: z.int().min(0).max(10).optional(),
});
