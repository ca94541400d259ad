import type { ModelRequest } from '../canonical/operation.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Cost } from '../catalog/price.ts';
import type { RouteReport } from '../canonical/route-report.ts';
import type { RequestLog } from './request-log.ts';
import type { ResponseMeter, ResponsePart, ServingEndpoint } from './response-meter.ts';

/** A part of the response with what it cost. */
export interface ServedPart
  extends Pick<ServingEndpoint, 'endpoint' | 'isByok' | 'attempt'>, Pick<ResponsePart, 'isOver' | 'endedMs'> {
  readonly usage: Usage;
  /** At list price, whether the account or the caller's provider is paid. `undefined`: the price is unknown, which is not zero. */
  readonly cost: Cost | undefined;
}

/** What a generation used and cost, over all its parts. */
export interface FinalBill {
  /** Each part of the response. */
  readonly served: readonly ServedPart[];
  /** `undefined`: no provider responded. */
  readonly usage: Usage | undefined;
  /**
   * What the account owes. For calls on the caller's own credentials the total holds nothing; what the provider charges for
   * prompt and completion is stated all the same. `undefined`: the price is unknown.
   */
  readonly cost: Cost | undefined;
  /** What calls on the caller's own credentials would have cost, nano-USD. `undefined`: there were none, or the price is unknown. */
  readonly listNanoUsd: number | undefined;
  /** Fees of plugins that are owed, nano-USD. */
  readonly pluginFeesNanoUsd: number;
  /** Those among them for files. */
  readonly fileFeesNanoUsd: number;
  /** What the router's choice saved against the model that it is compared with; negative: what it cost more. Nano-USD. */
  readonly savedNanoUsd: number | undefined;
}

type LogFacts = Pick<
  RequestLog<ModelRequest>,
  | 'id'
  | 'requestId'
  | 'request'
  | 'principal'
  | 'endUserId'
  | 'createdMs'
  | 'attempts'
  | 'warnings'
  | 'warningsDropped'
  | 'rescues'
  | 'serverTools'
  | 'steps'
  | 'nestedRuns'
  | 'startedBy'
  | 'origin'
  | 'cacheSourceId'
  | 'error'
  | 'capture'
>;
type MeterFacts = Pick<
  ResponseMeter,
  'endpoint' | 'upstreamId' | 'firstTokenMs' | 'end' | 'failure' | 'cancelled' | 'media' | 'dimensions'
>;

/**
 * One generation after its end, as `pipeline/billing/settle.ts` makes it: one row in the store, one log line, one set of
 * metrics, one message to each destination. It holds no secret and, but for `capture`, no text of the response.
 */
export interface GenerationRecord extends Readonly<LogFacts>, Readonly<MeterFacts>, FinalBill {
  readonly report: RouteReport;
  /** What the request is about, a tag of `model-selection/classify/task-tags.ts`; absent: it was not classified. */
  readonly taskType: string | undefined;
  /** The plugin that chose the models; absent: the caller named them. */
  readonly router: string | undefined;
  /** The model that would have responded without a router. */
  readonly comparedModel: string | undefined;
}
