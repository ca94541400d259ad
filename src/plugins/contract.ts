import { z } from 'zod';
import type { EventBatch } from '../canonical/events.ts';
import type { FormatId, Warning } from '../canonical/extra.ts';
import type { Json } from '../lib/json.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { ModelChoice } from '../canonical/model-choice.ts';
import type { Moderation } from '../canonical/moderation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { PipelineStage } from '../canonical/route-report.ts';
import type { FileReader } from '../canonical/parsed-file.ts';
import type { WebSearch } from '../canonical/web-search.ts';

/**
 * What plugins may do beside reading and changing a request: one line an ability, its type in `canonical/`. Each is built
 * where the parts of the gateway are put together, and absent where the operator did not set it up.
 */
export interface PluginAbilities {
  readonly search?: WebSearch;
  readonly files?: FileReader;
  readonly generate?: InnerGenerate;
  readonly moderation?: Moderation;
  /** Absent where no router may choose: where only tokens are counted. */
  readonly choice?: ModelChoice;
}

/** What a plugin is given beside the request. */
export interface PluginContext {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Somebody named the plugin: the caller, or the account's defaults. Otherwise it runs because it is `unasked`. */
  readonly asked: boolean;
  /** Which of the plugin's own slugs the request names, the first of several, as it stands there. */
  readonly slug?: string;
  /** The request serves another one: a member of a panel, an adviser. */
  readonly isInside?: true;
  readonly abilities: PluginAbilities;
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** Records a stage that changed or stopped something; a plugin that did nothing notes nothing. */
  note(stage: PipelineStage): void;
  /** Tells what of the request was left out or changed, beside the stage. */
  warn(warning: Warning): void;
  /**
   * Who may serve the request, before anybody is chosen.
   * @throws GatewayError 400 or 404 for its models: what costs money is not begun for a slug that does not exist
   */
  endpointsOf(request: GenerationRequest): readonly EndpointFacts[];
  /**
   * Sets money of the caller's aside for a fee that is to come, nano-USD; what of it is not charged comes free at the end.
   * @throws GatewayError 402 or 403 when too little is left
   */
  fund(nanoUsdMax: number): Promise<void>;
  /** A fee that is due, nano-USD, whatever becomes of the request. @param what it is for, as reports tell it apart */
  charge(nanoUsd: number, what: 'web' | 'files'): void;
  /** A member of `error.metadata`, where the request fails after all. */
  keepForError(member: string, value: Json): void;
}

/**
 * Revises the answer, one call a batch and one batch a call, in one synchronous pass. It may hold events back, but must
 * give all of them with the batch that holds `end` or `failed`, and keep the grammar of `GenerationEvent`. An answer that
 * breaks off without either is ended with a `failed` for it. Whoever changes a delta leaves its `frame` off.
 * @throws GatewayError when the caller must not get the answer, or no more of it: it ends with this error
 */
export type EventReviser = (events: EventBatch) => EventBatch;

/**
 * What a plugin may know of an endpoint. Tokens; absent: unknown, so that nobody is kept from it. What it takes of the
 * catalog's parameters and of vendors' own tools is told as `catalog/model.ts` has it.
 */
export interface EndpointFacts {
  readonly contextTokensMax?: number;
  readonly outputTokensMax?: number;
  readonly inputModalities?: readonly string[];
  readonly supportedParameters?: ReadonlySet<string>;
  readonly vendorTools?: boolean;
  readonly searchFormat?: FormatId;
  /** Most native first. */
  readonly formats?: readonly FormatId[];
  readonly outputModalities?: readonly string[];
}

/** Makes one request fit endpoints that are too small for it. */
export interface RequestFitting {
  /** Somebody asked for it. */
  readonly asked: boolean;
  /**
   * @param endpoints all of the models that were asked for
   * @returns for each whether it is worth a try; `undefined`: it gets the request as it stands, if it can read that
   */
  judge(endpoints: readonly EndpointFacts[]): (endpoint: EndpointFacts) => boolean | undefined;
  /**
   * @param format that the endpoint will be spoken to in
   * @returns the request for this endpoint, and what that took; `undefined`: as it stands
   */
  fit(
    request: GenerationRequest,
    endpoint: EndpointFacts,
    format: FormatId,
  ): { readonly request: GenerationRequest; readonly stage: PipelineStage; readonly warning: Warning } | undefined;
}

/**
 * Something that a caller asks for in `plugins`, and what it does about that: at least one hook. Hooks never throw for what a caller or an upstream does, except a `GatewayError`.
 */
export interface Plugin<Options extends z.ZodObject = z.ZodObject> {
  /** The id that callers write; the name of the plugin's folder. */
  readonly id: string;
  /** Members of the entry beside `id` and `enabled`. */
  readonly options: Options;
  /** Model slugs that stand for a choice which the plugin makes, listed or not. */
  readonly slugs?: readonly string[];
  /** A suffix behind a model's slug that asks for the plugin. @source generation.md 3.8 */
  readonly variant?: string;
  /** It runs for every request that does not say `enabled: false`; its hooks see in the context whether it was asked for. */
  readonly unasked?: true;
  /**
   * Whether it may find anything in the request, however it was enabled: where no plugin does, none is run. One look; absent:
   * it always may.
   */
  concerns?(request: GenerationRequest): boolean;
  /**
   * Chooses models for a slug that stands for a choice.
   * @param slug one of `slugs`, as it stands in the request, maybe with a suffix behind a colon
   * @returns slugs, best first, which take its place
   * @throws GatewayError 404 when nothing satisfies the options
   */
  chooseModels?(
    request: GenerationRequest,
    slug: string,
    options: z.output<Options>,
    context: PluginContext,
  ): Promise<readonly string[]>;
  /**
   * @returns the request to go on with; the same object when nothing changed
   * @throws GatewayError 403 when the request must not be served
   */
  reviseRequest?(
    request: GenerationRequest,
    options: z.output<Options>,
    context: PluginContext,
  ): Promise<GenerationRequest>;
  /**
   * @param asked somebody named the plugin
   * @returns what fits the request to endpoints, or `undefined` when nothing has to
   */
  fitRequest?(request: GenerationRequest, options: z.output<Options>, asked: boolean): RequestFitting | undefined;
  /** @returns a reviser for this one answer, or `undefined` when the request needs none */
  reviseEvents?(
    request: GenerationRequest,
    options: z.output<Options>,
    context: PluginContext,
  ): EventReviser | undefined;
}

/** seed 8 "router allow/exclude patterns". */
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

/** Options that both auto routers take. @source seed 2.2 "Router rules" */
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
