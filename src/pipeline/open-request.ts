import { hash } from 'node:crypto';
import type { Principal } from '../accounts/principal.ts';
import type { RequestPermit } from '../accounts/limits/rate-limits.ts';
import { GatewayError, withMetadata } from '../canonical/gateway-error.ts';
import type { GenerationOrigin } from '../canonical/generation-origin.ts';
import type { ModelRequest } from '../canonical/operation.ts';
import { openRouteReport } from '../canonical/route-report.ts';
import type { Clock } from '../lib/clock.ts';
import { Cancellation } from '../lib/async/cancellation.ts';
import { createLruCache } from '../lib/cache/lru-cache.ts';
import type { Slots } from '../lib/memory/slots.ts';
import { RequestLog, type StepOfGeneration } from '../telemetry/request-log.ts';
import { ResponseMeter } from '../telemetry/response-meter.ts';
import type { ErrorContext, FinalUsage } from '../wire/format.ts';
import { BudgetReservation, type BudgetReservationDeps } from './admission/budget-reservation.ts';
import { finalUsageOf, metadataOf, settle, type SettleDeps, type Settlement } from './billing/settle.ts';
import type { RequestEnd, RequestFacts } from './request.ts';
import { isCutShort, type RunningRequest } from './running-requests.ts';
import type { RouteDeps } from './route/choose-route.ts';

export interface OpenRequestDeps extends SettleDeps, BudgetReservationDeps {
  readonly clock: Clock;
  readonly defaults: RouteDeps['defaults'];
  readonly region: string;
  readonly baseUrl: () => string;
  /** Bound on a whole request, ms. */
  readonly totalMs: number;
  /** Takes the room for the record of a request. @throws GatewayError 503 where there is none */
  readonly takeRoom: () => void;
  readonly returnRoom: () => void;
  /** Those under way in this process, the oldest first. */
  readonly running: Slots<RunningRequest>;
  /** Keeps the text of the response, where its workspace may want that. Absent: none does. */
  readonly openCapture?: (log: RequestLog<ModelRequest>) => RequestLog['capture'];
  /** For the operator: an assumption of ours that does not hold. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

/** What is known of a request when it arrives. */
export interface ArrivedRequest<Request extends ModelRequest> {
  readonly id: string;
  /** The id of the caller's request; absent: this is it. */
  readonly requestId?: string | undefined;
  readonly startedBy?: StepOfGeneration | undefined;
  readonly origin?: GenerationOrigin | undefined;
  readonly request: Request;
  readonly principal: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  readonly place?: RequestPermit | undefined;
  readonly isLarge?: boolean | undefined;
  readonly background?: { readonly totalMs: number } | undefined;
}

/**
 * A request under way, of whatever kind: its facts, its time limit, what is reserved for it, and its end. The charge is
 * settled once, by `settle`, and everything that a step opens is ended by `close`. A class because it lives as long as its
 * request.
 */
export class OpenRequest<Request extends ModelRequest> {
  readonly facts: RequestFacts<Request>;
  readonly reservation: BudgetReservation;
  readonly cancellation = new Cancellation<RequestEnd>();
  readonly #deps: OpenRequestDeps;
  readonly #timer: NodeJS.Timeout;
  readonly #slot: number;
  /** Ends of what steps opened. */
  readonly #ends: (() => void)[] = [];
  #settlement: Settlement | undefined;
  #isHandedOver = false;

  constructor(deps: OpenRequestDeps, arrived: ArrivedRequest<Request>, caller: { onGone(listener: () => void): void }) {
    this.#deps = deps;
    this.facts = openFacts(deps, arrived);
    const { principal, place, background } = arrived;
    this.reservation = new BudgetReservation(deps, principal, this.facts.log, place, background !== undefined);
    caller.onGone(() => this.cancellation.abort('gone'));
    this.#slot = deps.running.add(this);
    this.#timer = setTimeout(() => this.cancellation.abort('total'), background?.totalMs ?? deps.totalMs);
  }

  /** What `end` ends is open from now on: it runs when the request is over, whatever its outcome, the last one first. */
  defer(end: () => void): void {
    this.#ends.push(end);
  }

  /**
   * The request is over: ends all that is still open. Settles when the charge is durable; `undefined`: nothing is left to wait for.
   * @param isCharged the charge is durable
   */
  close(isCharged = false): Promise<void> | undefined {
    clearTimeout(this.#timer);
    this.#deps.running.free(this.#slot);
    for (let last = this.#ends.pop(); last !== undefined; last = this.#ends.pop()) this.#run(last);
    return isCharged || this.#isHandedOver ? this.#leave() : this.settled().then(() => this.#leave());
  }

  #leave(): Promise<void> | undefined {
    if (this.facts.log.hasRoom) this.#deps.returnRoom();
    return this.afterwards();
  }

  /** What a kind of requests has left to do when the charge is durable. */
  protected afterwards(): Promise<void> | undefined {
    return undefined;
  }

  /** The request goes on as a job: the job's end fixes the charge, and settles what is reserved. */
  async handOver(): Promise<void> {
    this.#isHandedOver = true;
    await this.reservation.handOver();
  }

  /** A bug in one end keeps no other from running. */
  #run(end: () => void): void {
    try {
      end();
    } catch (error) {
      this.#deps.onBug(error, this.facts.log.id);
    }
  }

  /** Fixes the charge, once. */
  settle(): Settlement {
    if (this.#settlement === undefined) {
      const { reason } = this.cancellation;
      if (reason !== undefined && isCutShort(reason) && this.#isCutOff()) this.facts.meter.cancelled = true;
      this.#settlement = settle(this.#deps, this.facts, this.reservation);
    }
    return this.#settlement;
  }

  /** Settles when the charge is durable, or is known to come later: an error has ended the response then. */
  async settled(): Promise<void> {
    try {
      await this.settle().durable;
    } catch {
      // What waited for it before has reported it.
    }
  }

  /** Usage and cost as the end of the response reports them. */
  finalUsage(): FinalUsage {
    return finalUsageOf(this.settle().record, this.facts, this.#deps.region);
  }

  /** An error takes the place of the response, or of what is left of it. Settles when the charge is durable. */
  async fail(reason: unknown): Promise<GatewayError> {
    // Whatever failed, an upstream must not go on sending.
    this.cancellation.abort('over');
    const error = this.#asGatewayError(reason);
    this.facts.log.error = error;
    await this.settled();
    return error;
  }

  errorContext(): ErrorContext {
    const { region, baseUrl } = this.#deps;
    return {
      generationId: this.facts.log.id,
      serviceMetadata: metadataOf(this.facts, region),
      baseUrl: baseUrl(),
    };
  }

  /** A caller that leaves before the end owes what there is of the response. @spec money-17 */
  #isCutOff(): boolean {
    const { report, meter } = this.facts;
    const { failure, serving, end } = meter;
    const brokeOffBefore = serving !== undefined && failure !== undefined && failure.kind !== 'aborted';
    const isOver = end !== undefined || report.endedMs !== undefined;
    return !isOver && !brokeOffBefore;
  }

  #asGatewayError(error: unknown): GatewayError {
    const { log } = this.facts;
    if (error instanceof GatewayError) return withMetadata(error, log.errorMetadata);
    this.#deps.onBug(error, log.id);
    return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
  }
}

function openFacts<Request extends ModelRequest>(
  deps: OpenRequestDeps,
  { id, requestId, startedBy, origin, request, principal, arrivedMs, isLarge }: ArrivedRequest<Request>,
): RequestFacts<Request> {
  const { models, user } = request.directives;
  const log = new RequestLog<Request>({
    id,
    requestId,
    startedBy,
    origin: origin ?? (isCompaction(request) ? 'compaction' : undefined),
    request,
    isLarge,
    principal,
    endUserId: hashEndUser(principal.accountId, user),
    createdMs: deps.clock.nowMs(),
  });
  log.capture = deps.openCapture?.(log);
  return {
    log,
    report: openRouteReport(models[0] ?? deps.defaults.model ?? '', arrivedMs),
    meter: new ResponseMeter(),
  };
}

function isCompaction(request: ModelRequest): boolean {
  return 'response' in request && request.response?.compacts !== undefined;
}

const END_USERS_MAX = 1_000;
const known = createLruCache<string, string>(END_USERS_MAX);

/** The only form in which an end user's id leaves; the account's own when there is none. @spec request-20 */
function hashEndUser(accountId: string, user: string | undefined): string {
  const identity = `${accountId}\0${user ?? ''}`;
  const before = known.get(identity);
  if (before !== undefined) return before;
  const hashed = hash('sha256', identity, 'hex');
  known.set(identity, hashed);
  return hashed;
}
