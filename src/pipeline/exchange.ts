import { hash } from 'node:crypto';
import type { GenerateNested } from '../canonical/tools/nested-generation.ts';
import { GatewayError, withMetadata } from '../canonical/gateway-error.ts';
import { openRouteReport } from '../canonical/route-report.ts';
import type { Clock } from '../lib/clock.ts';
import { Cancellation } from '../lib/async/cancellation.ts';
import { MemoryLeases } from '../lib/memory/memory-leases.ts';
import { RequestLog } from '../telemetry/request-log.ts';
import { ResponseMeter } from '../telemetry/response-meter.ts';
import type { ClientFormat, ErrorContext, FinalUsage } from '../wire/format.ts';
import { BudgetReservation, type BudgetReservationDeps } from './admission/budget-reservation.ts';
import { finalUsageOf, metadataOf, settle, type SettleDeps, type Settlement } from './billing/settle.ts';
import type { Generate, IncomingRequest, RequestFacts, ResponseWriter } from './request.ts';
import { openStreamOutput, type StreamOutput } from './response/sse-output.ts';
import type { RouteDeps } from './route/choose-route.ts';
import { createGenerateNested } from './server-tools/nested-generation.ts';
import { createLruCache } from '../lib/cache/lru-cache.ts';

export interface ExchangeDeps extends SettleDeps, BudgetReservationDeps {
  readonly clock: Clock;
  readonly defaults: RouteDeps['defaults'];
  readonly region: string;
  readonly baseUrl: () => string;
  /** Bound on a whole request, ms. */
  readonly totalMs: number;
  /** Takes the room for the record of a request. @throws GatewayError 503 where there is none */
  readonly takeRoom: () => void;
  readonly returnRoom: () => void;
  readonly streams: { streamOpened(): void; streamClosed(): void; requestBegan(): void; requestEnded(): void };
  /** Keeps the text of the response, where its workspace may want that. Absent: none does. */
  readonly openCapture?: (log: RequestLog) => RequestLog['capture'];
  /** For the operator: an assumption of ours that does not hold. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

/**
 * One request and its response: what is open as long as they are. It is the one owner of their end: the charge is settled
 * once, by `settle`, and everything that a step opens is ended by `close`. A class because it lives as long as its request.
 */
export class Exchange {
  readonly incoming: IncomingRequest;
  readonly format: ClientFormat;
  readonly writer: ResponseWriter;
  readonly facts: RequestFacts;
  /** Absent: the response is sent as a whole. */
  readonly output: StreamOutput | undefined;
  readonly reservation: BudgetReservation;
  /** Memory that plugins hold for the request. */
  readonly memory = new MemoryLeases();
  /** Runs one generation inside this one. */
  readonly generateNested: GenerateNested;
  readonly #deps: ExchangeDeps;
  /** The caller has hung up (`gone`), the total time is over (`total`), or the request is (`over`). */
  readonly cancellation = new Cancellation<'gone' | 'total' | 'over'>();
  readonly #timer: NodeJS.Timeout;
  /** Ends of what steps opened. */
  readonly #ends: (() => void)[] = [];
  /** Generations inside this one that run now. */
  #nestedRuns: Set<Promise<unknown>> | undefined;
  #settlement: Settlement | undefined;

  constructor(
    deps: ExchangeDeps,
    generate: Generate,
    incoming: IncomingRequest,
    format: ClientFormat,
    writer: ResponseWriter,
  ) {
    this.#deps = deps;
    this.incoming = incoming;
    this.format = format;
    this.writer = writer;
    this.facts = openFacts(deps, incoming);
    this.reservation = new BudgetReservation(deps, incoming.principal, this.facts.log, incoming.place);
    const { log } = this.facts;
    const { cancellation } = this;
    this.output =
      log.request.delivery === 'stream'
        ? openStreamOutput(writer, {
            generationId: log.id,
            keepAlive: format.keepAlive,
            cancellation,
            monotonicMs: () => deps.clock.monotonicMs(),
          })
        : undefined;
    this.generateNested = createGenerateNested({ generate, clock: deps.clock }, incoming, {
      log,
      format,
      cancellation,
      follow: (running) => this.#followNested(running),
    });
    writer.onGone(() => cancellation.abort('gone'));
    this.#timer = setTimeout(() => cancellation.abort('total'), deps.totalMs);
    if (incoming.nested === undefined) deps.streams.requestBegan();
    if (this.output !== undefined) deps.streams.streamOpened();
  }

  /** What `end` ends is open from now on: it runs when the request is over, whatever its outcome, the last one first. */
  defer(end: () => void): void {
    this.#ends.push(end);
  }

  /** The request is over: ends all that is still open. Settles when the charge is durable. */
  async close(): Promise<void> {
    const { output } = this;
    const { streams } = this.#deps;
    const { nested } = this.incoming;
    clearTimeout(this.#timer);
    for (const end of this.#ends.toReversed()) this.#run(end);
    this.memory.close();
    if (output !== undefined) {
      output.stop();
      streams.streamClosed();
    }
    await this.#settled();
    if (this.facts.log.hasRoom) this.#deps.returnRoom();
    if (nested === undefined) streams.requestEnded();
    if (this.#nestedRuns !== undefined) await this.#endNestedRuns(this.#nestedRuns);
    nested?.ended(this.finalUsage());
  }

  /** A bug in one end keeps no other from running. */
  #run(end: () => void): void {
    try {
      end();
    } catch (error) {
      this.#deps.onBug(error, this.facts.log.id);
    }
  }

  #followNested(running: Promise<unknown>): void {
    const runs = (this.#nestedRuns ??= new Set());
    runs.add(running);
    const over = (): void => void runs.delete(running);
    running.then(over, over);
  }

  /** The response does not wait for them, and each has a charge of its own to settle. */
  async #endNestedRuns(runs: ReadonlySet<Promise<unknown>>): Promise<void> {
    if (runs.size === 0) return;
    this.cancellation.abort('over');
    await Promise.allSettled(runs);
  }

  /** Fixes the charge, once. */
  settle(): Settlement {
    if (this.#settlement === undefined) {
      if (this.#hasHungUp()) this.facts.meter.cancelled = true;
      this.#settlement = settle(this.#deps, this.facts, this.reservation);
    }
    return this.#settlement;
  }

  /** Settles when the charge is durable, or is known to come later: an error has ended the response then. */
  async #settled(): Promise<void> {
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

  /** Ends the request with an error in place of its response, or of what is left of it. */
  async refuse(reason: unknown): Promise<void> {
    const { facts, writer, format, output } = this;
    const { log, report } = facts;
    // Whatever failed, an upstream must not go on sending.
    this.cancellation.abort('over');
    const error = this.#asGatewayError(reason);
    log.error = error;
    await this.#settled();
    output?.stop();
    if (!writer.started) {
      writer.refuse(error, this.errorContext());
      return;
    }
    const identity = { id: log.id, createdS: Math.floor(log.createdMs / 1_000), model: report.requested };
    writer.end(format.createStreamEncoder(identity).fail(error, undefined, this.errorContext()));
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
  #hasHungUp(): boolean {
    const { report, meter } = this.facts;
    const { failure, serving, end } = meter;
    const brokeOffBefore = serving !== undefined && failure !== undefined && failure.kind !== 'aborted';
    const isOver = end !== undefined || report.endedMs !== undefined;
    return this.cancellation.reason === 'gone' && !isOver && !brokeOffBefore;
  }

  #asGatewayError(error: unknown): GatewayError {
    const { log } = this.facts;
    if (error instanceof GatewayError) return withMetadata(error, log.errorMetadata);
    this.#deps.onBug(error, log.id);
    return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
  }
}

function openFacts(deps: ExchangeDeps, incoming: IncomingRequest): RequestFacts {
  const { id, request, principal, arrivedMs, isLarge, nested } = incoming;
  const { models, user } = request.directives;
  const log = new RequestLog({
    id,
    requestId: nested?.requestId,
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
