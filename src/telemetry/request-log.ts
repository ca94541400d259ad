import type { Warning } from '../canonical/extra.ts';
import type { GenerationOrigin } from '../canonical/generation-origin.ts';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { ModelRequest } from '../canonical/operation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { StartedBy } from '../canonical/tools/nested-generation.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Cost, PriceTable } from '../catalog/price.ts';
import type { Json } from '../lib/json.ts';
import type { AttemptRecord } from '../store/generations/generation-json.ts';
import type { ResponseCapture } from './response-capture.ts';

/** The account, workspace and key that a request belongs to. */
export interface RequestOwner {
  readonly keyHash: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** The member that the key belongs to; null: none. */
  readonly memberId: string | null;
  /** The key's name as its owner gave it. */
  readonly name?: string;
}

/** Calls of server tools, all turns together. */
export interface ServerToolUse {
  /** Of the model, the last one included. */
  turns: number;
  requested: number;
  executed: number;
  /** Of those that were executed. */
  failed: number;
  searches: number;
  fetches: number;
  /** What the calls themselves cost, without the models that they call. Nano-USD. */
  feeNanoUsd: number;
  /** The part of it for searches and pages. */
  webFeeNanoUsd: number;
}

/** Usage and cost of a generation that a plugin or a tool ran inside this one. */
export interface NestedRun {
  readonly usage: Usage;
  readonly cost: Cost | undefined;
}

/** How mid-stream failover ended, once for each stream that broke off. */
export type RescueOutcome = 'prefill' | 'restart' | 'failed';

/** What a router chose, and what its choice is compared with. */
export interface RouterChoice {
  /** The plugin that chose the models; absent: a plugin classified the request and chose nothing. */
  readonly router: string | undefined;
  /** What the request is about, a tag of `model-selection/classify/task-tags.ts`; absent: the router did not classify it. */
  readonly taskType: string | undefined;
  /** The model that would have responded without a router, at list price. */
  readonly comparedWith: { readonly model: string; readonly price: PriceTable } | undefined;
}

/** The step that a generation inside another one is run by. */
export interface StepOfGeneration extends StartedBy {
  readonly generationId: string;
}

/** A tool or a plugin that ran for a request. */
export interface StepRun extends StartedBy {
  /** As models or configurations call it. */
  readonly name: string;
  /** Of a tool: its type, and the call's own id. */
  readonly type?: string;
  readonly callId?: string;
  /** Since the request came. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly hasFailed: boolean;
}

const WARNINGS_MAX = 50;
/** Of one request: later ones are in no trace. */
const STEPS_MAX = 100;

/**
 * The facts of one request, appended while it runs and read when it is settled. It holds no secret and, but for `capture`,
 * no text of the response.
 */
export class RequestLog<Request extends ModelRequest = GenerationRequest> {
  readonly id: string;
  /** The id of the caller's request: its own id, unless it runs inside another generation. */
  readonly requestId: string;
  /** The request as it may be kept: what content filters replaced is replaced here too. */
  request: Request;
  /** Its body is large: it is worked on in steps. */
  readonly isLarge: boolean;
  readonly principal: RequestOwner;
  /** Hash of account and end user: the only form in which the caller's `user` leaves the gateway. */
  readonly endUserId: string;
  /** Unix ms. */
  readonly createdMs: number;
  readonly attempts: AttemptRecord[] = [];
  readonly warnings: Warning[] = [];
  warningsDropped = 0;
  readonly rescues: RescueOutcome[] = [];
  /** Use of server tools; absent: the request offered none. */
  serverTools: ServerToolUse | undefined;
  /** Whether the request has room for its record. Without, it was refused before anything was done for it. */
  hasRoom = false;
  /** A provider may have it. */
  wasSent = false;
  /** Fees of plugins, nano-USD: searches, files that a service parsed. */
  pluginFeesNanoUsd = 0;
  /** Those among them for files. */
  fileFeesNanoUsd = 0;
  /** Members of `error.metadata` that plugins set, for a request that fails after all. */
  readonly errorMetadata: Record<string, Json> = {};
  /** Generations inside this one, each with a record and a charge of its own. */
  readonly nestedRuns: NestedRun[] = [];
  /** Tools and plugins, in the order in which they ended. */
  readonly steps: StepRun[] = [];
  /** The step of another generation that this one is run by. */
  readonly startedBy: StepOfGeneration | undefined;
  /** What made it; absent: a request of a caller. */
  readonly origin: GenerationOrigin | undefined;
  routerChoice: RouterChoice | undefined;
  /** What the request is about, a tag of `model-selection/classify/task-tags.ts`, where it was classified without a router. */
  taskType: string | undefined;
  /** The generation whose response was replayed from the cache. */
  cacheSourceId: string | undefined;
  error: GatewayError | undefined;
  /** Why the response was ended where no more could be reserved for it. */
  budgetEnd: 'reached' | 'unknown' | undefined;
  /** Keeps the text of the response, where its workspace may want that. */
  capture: ResponseCapture | undefined;

  constructor(options: {
    readonly id: string;
    /** The id of the caller's request; absent: this is it. */
    readonly requestId?: string | undefined;
    readonly startedBy?: StepOfGeneration | undefined;
    readonly origin?: GenerationOrigin | undefined;
    readonly request: Request;
    readonly isLarge?: boolean | undefined;
    readonly principal: RequestOwner;
    readonly endUserId: string;
    /** Unix ms. */
    readonly createdMs: number;
  }) {
    this.id = options.id;
    this.requestId = options.requestId ?? options.id;
    this.startedBy = options.startedBy;
    this.origin = options.origin;
    this.request = options.request;
    this.isLarge = options.isLarge === true;
    this.principal = options.principal;
    this.endUserId = options.endUserId;
    this.createdMs = options.createdMs;
    this.warn(options.request.warnings);
  }

  warn(warnings: readonly Warning[]): void {
    for (const warning of warnings) {
      if (this.warnings.length < WARNINGS_MAX) this.warnings.push(warning);
      else this.warningsDropped++;
    }
  }

  noteStep(step: StepRun): void {
    if (this.steps.length < STEPS_MAX) this.steps.push(step);
  }

  /** A plugin owes a fee. */
  chargePlugin(nanoUsd: number, forWhat: 'files' | 'web'): void {
    this.pluginFeesNanoUsd += nanoUsd;
    if (forWhat === 'files') this.fileFeesNanoUsd += nanoUsd;
  }

  endAtBudget(reason: 'reached' | 'unknown', message: string): void {
    this.budgetEnd = reason;
    this.warn([{ code: `budget_${reason}`, path: 'max_tokens', message }]);
  }
}
