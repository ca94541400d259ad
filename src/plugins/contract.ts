import { z } from 'zod';
import type { EventBatch } from '../canonical/events.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { PipelineStage } from '../canonical/route-report.ts';

/** What a plugin is given beside the request. */
export interface PluginContext {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Records a stage that changed or stopped something; a plugin that did nothing notes nothing. */
  note(stage: PipelineStage): void;
}

/**
 * Revises the answer, one call a batch and one batch a call, in one synchronous pass. It may hold events back, but must
 * give all of them with the batch that holds `end` or `failed`, and keep the grammar of `GenerationEvent`.
 */
export type EventReviser = (events: EventBatch) => EventBatch;

/**
 * Something that a caller asks for in `plugins`. A plugin without hooks is known, its options are checked, and a request
 * that enables it is refused. Hooks never throw for what a caller or an upstream does, except a `GatewayError`.
 */
export interface Plugin<Options extends z.ZodObject = z.ZodObject> {
  /** The id that callers write; the name of the plugin's folder. */
  readonly id: string;
  /** Members of the entry beside `id` and `enabled`. */
  readonly options: Options;
  /**
   * Chooses models for a slug that stands for a choice.
   * @returns slugs, best first, or `undefined` to leave the request's own
   * @throws GatewayError 404 when nothing satisfies the options
   */
  chooseModels?(
    request: GenerationRequest,
    options: z.output<Options>,
    context: PluginContext,
  ): Promise<readonly string[] | undefined>;
  /**
   * @returns the request to go on with; the same object when nothing changed
   * @throws GatewayError 403 when the request must not be served
   */
  reviseRequest?(
    request: GenerationRequest,
    options: z.output<Options>,
    context: PluginContext,
  ): Promise<GenerationRequest>;
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
