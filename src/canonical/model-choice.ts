import type { JsonObject } from '../lib/json.ts';
import type { FusionPresets } from './tools/fusion.ts';
import type { GenerationRequest } from './request.ts';
import type { RouteReport } from './route-report.ts';

/** A concrete model of which at least one endpoint may serve the request. */
export interface CandidateModel {
  readonly slug: string;
  readonly name: string;
  /** What `~author/family-latest` looks for. Absent: unknown. */
  readonly family?: string;
  /** USD per million tokens at list: the author's own endpoint, else the middle of those that the gateway may use. */
  readonly promptPrice: number;
  readonly completionPrice: number;
  /** Neither prompt nor completion nor the request costs anything. */
  readonly isFree: boolean;
  /** Tokens; absent: unknown. */
  readonly contextTokensMax?: number;
  /** `2026-02` or `2026-02-17`. Absent: unknown. */
  readonly released?: string;
  /** Results of tests by metric (`livebench-2026-06-25/coding`), 0 to 1, the best variant of each. */
  readonly scores: ReadonlyMap<string, number>;
  /** 0 to 1, as listings sort by them; the operator's configuration wins. Absent: unknown. */
  readonly coding?: number;
  readonly intelligence?: number;
  readonly agentic?: number;
  /** Tokens a second, the median of the last five minutes, at its fastest endpoint; `undefined`: it had no requests. */
  throughput(): number | undefined;
}

/** A model that may not serve the request, and why. */
export interface LeftOut {
  readonly slug: string;
  /** The reason of its first endpoint that could have been: `input_modalities`, `guardrail:models`, `no_text`. */
  readonly reason: string;
  /** The parameter or modality that it lacks. */
  readonly lacks?: string;
}

export interface CandidatePool {
  /** In the catalog's order. */
  readonly models: readonly CandidateModel[];
  readonly leftOut: readonly LeftOut[];
}

/** What this gateway did for one kind of task in the last seven days. */
export interface TaskTraffic {
  readonly requests: number;
  /** Of an average request; `undefined`: there were none. */
  readonly tokens: { readonly prompt: number; readonly completion: number } | undefined;
  /** 0 to 1: where a model stands among those that money was spent on for it, the most is 1; 0: nothing was. */
  standingOf(slug: string): number;
}

/** A model with its results of tests. */
export interface TestedModel {
  readonly slug: string;
  readonly scores: readonly { readonly metric: string; readonly score: number }[];
}

/** The decision of a router. */
export interface RouterDecision {
  /** The plugin's id. */
  readonly router: string;
  readonly strategy: RouteReport['strategy'];
  /** The models that take the slug's place, best first. */
  readonly chosen: readonly string[];
  /** Tag of `model-selection/classify/task-tags.ts`. Absent: unknown. */
  readonly taskType?: string;
  /** Members of `params` in the metadata: `quality_floor`, `throughput_floor`. */
  readonly params?: JsonObject;
  /** The model that would have given the best response: the cost is compared with that model's list price. */
  readonly comparedWith?: string;
  /**
   * Session affinity: a session that the caller names stays with the model and the provider that served it, even where no
   * prompt cache is saved by that. The pin is stored under `what` for `idleMs` after the last success.
   */
  readonly pins?: { readonly what: string; readonly idleMs: number };
  /** What `POST /route/explain` shows of it. Only that route calls this. */
  readonly details?: () => JsonObject;
}

/** The operator's settings for routers. */
export interface RouterSettings {
  /** Slugs and aliases, first choice first: the models that a router calls as a judge. */
  readonly judgeModels: readonly string[];
  readonly judgeTimeoutMs: number;
  /** Auto routers call the judge to classify a request where keywords leave doubt. */
  readonly judgesTasks: boolean;
  /** From which probability on its verdict counts, 0 to 1. */
  readonly taskThreshold: number;
  /** For auto routers where nothing is ranked. Slugs and aliases. */
  readonly defaultModels: readonly string[];
  /** Of switchyard, where the request lists no models. Slugs or aliases. */
  readonly efficientModel?: string;
  readonly capableModel?: string;
  readonly fusion: FusionPresets;
}

/** What routers choose by. Made for one request. */
export interface ModelChoice {
  readonly settings: RouterSettings;
  /** A dry run: no model is called, and nothing is stored. */
  readonly isRehearsal: boolean;
  /**
   * Every reviewed model with a known price that answers in text and that the request, its account and the operator let
   * answer it, sandbox models only where there is nothing else. One pass over the catalog.
   */
  candidatePool(request: GenerationRequest): CandidatePool;
  /** The concrete slug that a slug or an alias (`~author/family-latest`) stands for; `undefined`: no endpoint serves it. */
  resolve(slug: string): string | undefined;
  /** 0 to 1: a model's rank among all with results in the metrics of a tag; `undefined`: it has no such results. */
  priorOf(slug: string, taskType: string): number | undefined;
  /** Every model that was tested, served here or not: among few models a rank means little. */
  tested(): readonly TestedModel[];
  traffic(taskType: string): TaskTraffic;
  /**
   * USD per million prompt tokens that real requests of the last seven days came to, caches included; `undefined`: too few
   * were sent. @spec router-23
   */
  paidPromptPrice(slug: string): number | undefined;
  /** From 0 up to, not including, 1. */
  random(): number;
  /**
   * What a router remembered of this conversation under a name of its own; never of another account's. Never rejects.
   * @param what `auto-router`, `switchyard-router:tier`
   */
  remembered(what: string): Promise<string | undefined>;
  /** Bounded and lost with the process, unless processes share their state. @param lifeMs since the last word of it */
  remember(what: string, value: string, lifeMs: number): void;
  /** Tells the record and the metadata; once a router. */
  decided(decision: RouterDecision): void;
}
