import type { GenerateNested } from '../canonical/tools/nested-generation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { MemoryLeases } from '../lib/memory/memory-leases.ts';
import type { ClientFormat, ResponseIdentity, StreamEncoder } from '../wire/format.ts';
import { OpenRequest, type OpenRequestDeps } from './open-request.ts';
import type { Generate, IncomingRequest, ResponseWriter } from './request.ts';
import { openStreamOutput, type StreamOutput } from './response/sse-output.ts';
import { createGenerateNested } from './server-tools/nested-generation.ts';

export interface ExchangeDeps extends OpenRequestDeps {
  readonly streams: { streamOpened(): void; streamClosed(): void; requestBegan(): void; requestEnded(): void };
}

/**
 * One generation and its response: what is open as long as they are, beside what is open of every request: the stream to
 * the caller, and generations inside this one.
 */
export class Exchange extends OpenRequest<GenerationRequest> {
  readonly incoming: IncomingRequest;
  readonly format: ClientFormat;
  readonly writer: ResponseWriter;
  /** Absent: the response is sent as a whole. */
  readonly output: StreamOutput | undefined;
  /** Memory that plugins hold for the request. */
  readonly memory = new MemoryLeases();
  /** Runs one generation inside this one. */
  readonly generateNested: GenerateNested;
  readonly #streams: ExchangeDeps['streams'];
  /** Generations inside this one that run now. */
  #nestedRuns: Set<Promise<unknown>> | undefined;
  #encoder: StreamEncoder | undefined;

  constructor(
    deps: ExchangeDeps,
    generate: Generate,
    incoming: IncomingRequest,
    format: ClientFormat,
    writer: ResponseWriter,
  ) {
    const { nested, background } = incoming;
    const requestId = nested?.requestId ?? background?.generationId;
    super(deps, { ...incoming, requestId, startedBy: nested?.startedBy }, writer);
    this.#streams = deps.streams;
    this.incoming = incoming;
    this.format = format;
    this.writer = writer;
    const { log } = this.facts;
    const { cancellation } = this;
    this.output =
      log.request.delivery === 'stream'
        ? openStreamOutput(writer, {
            generationId: log.id,
            keepAlive: (idleMs) => this.#keepAlive(idleMs),
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
    if (incoming.nested === undefined) deps.streams.requestBegan();
    if (this.output !== undefined) deps.streams.streamOpened();
    this.defer(() => this.#endOutput());
  }

  protected override afterwards(): Promise<void> | undefined {
    const { nested } = this.incoming;
    if (nested === undefined) this.#streams.requestEnded();
    if (this.#nestedRuns !== undefined) return this.#endNestedRuns(this.#nestedRuns);
    nested?.ended(this.finalUsage());
    return undefined;
  }

  /** After everything that the steps opened. */
  #endOutput(): void {
    this.memory.close();
    if (this.output === undefined) return;
    this.output.stop();
    this.#streams.streamClosed();
  }

  #followNested(running: Promise<unknown>): void {
    const runs = (this.#nestedRuns ??= new Set());
    runs.add(running);
    const over = (): void => void runs.delete(running);
    running.then(over, over);
  }

  /** The response does not wait for them, and each has a charge of its own to settle. */
  async #endNestedRuns(runs: ReadonlySet<Promise<unknown>>): Promise<void> {
    if (runs.size > 0) {
      this.cancellation.abort('over');
      await Promise.allSettled(runs);
    }
    this.incoming.nested?.ended(this.finalUsage());
  }

  /** Ends the request with an error in place of its response, or of what is left of it. */
  async refuse(reason: unknown): Promise<void> {
    const { writer, format, output } = this;
    const error = await this.fail(reason);
    output?.stop();
    const opens = output !== undefined && format.failsInStream?.(error, this.incoming.request) === true;
    if (!writer.started && !opens) {
      writer.refuse(error, this.errorContext());
      return;
    }
    const frames = this.streamEncoder().fail(error, undefined, this.errorContext());
    if (output === undefined) writer.end(frames);
    else output.end(frames);
  }

  /** The one encoder of a streamed response: what it opened while nothing came goes on with the content. */
  streamEncoder(): StreamEncoder {
    this.#encoder ??= this.format.createStreamEncoder(this.identify());
    return this.#encoder;
  }

  /** Which response it is, as far as is known now. */
  identify(): ResponseIdentity {
    const { log, report, meter } = this.facts;
    const { endpoint } = meter;
    const { background } = this.incoming;
    return {
      id: background?.generationId ?? log.id,
      createdS: Math.floor((background?.acceptedMs ?? log.createdMs) / 1_000),
      model: endpoint?.model ?? report.requested,
      ...(endpoint !== undefined && { provider: endpoint.providerName }),
      ...(log.request.directives.legacyCalls && { legacyCalls: true }),
      request: this.incoming.request,
      accountId: log.principal.accountId,
      ...(this.incoming.keep !== undefined && { isKept: true }),
      ...(background !== undefined && { nextEvent: background.nextEvent }),
    };
  }

  #keepAlive(idleMs: number): string {
    const { keepAlive, speaksWhileIdle } = this.format;
    return speaksWhileIdle === true ? keepAlive + (this.streamEncoder().idle?.(idleMs) ?? '') : keepAlive;
  }
}
