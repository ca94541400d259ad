import type { EndEvent } from '../canonical/events.ts';
import type { Warning } from '../canonical/extra.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport, type RouteReport } from '../canonical/route-report.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Cost } from '../catalog/price.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { AttemptRecord } from '../store/generation-json.ts';
import type { AnswerCapture } from './answer-capture.ts';

/** Who asked. */
export interface Asker {
  readonly keyHash: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** On whose behalf the key was made; null: nobody's. */
  readonly memberId: string | null;
  /** The key's name as its owner gave it. */
  readonly name?: string;
}

/** Who gives an answer, or a part of it. */
interface Server {
  readonly endpoint: Endpoint;
  /** The caller's own credential was used: the provider charges the caller. */
  readonly isByok: boolean;
  /** Which of the attempts. */
  readonly attempt: number;
}

/** What one endpoint gave of an answer: all of it, unless it broke off and another went on. */
export interface AnswerPart extends Server {
  /** As the upstream counted, so far as it did. */
  readonly usage: Usage | undefined;
  /** UTF-16 units of text, reasoning and tool input that came: for an estimate when no usage did. */
  readonly answerChars: number;
  /** Of the answer so far, which it was given with the request. */
  readonly givenChars: number;
}

/** The same, accounted for. */
export interface ServedPart extends Server {
  readonly usage: Usage;
  /** At list price, whoever pays. `undefined`: the price is unknown, which is not zero. */
  readonly cost: Cost | undefined;
}

/** An attempt under way. Ends with `commit` or `fail`. */
export interface OpenAttempt {
  warn(warnings: readonly Warning[]): void;
  /** The request went out. */
  sent(): void;
  commit(): void;
  fail(failure: UpstreamFailure): void;
}

/** How it went when a stream broke off and another endpoint was to go on with it. */
export type RescueOutcome = 'prefill' | 'restart' | 'failed';

const WARNINGS_MAX = 50;

/**
 * Everything that is known of one generation while it runs. The pipeline fills it, and `settle` turns it into one row,
 * one log line and one set of metrics. It holds no secret and no text of the conversation.
 */
export class GenerationRecord {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly asker: Asker;
  /** Hash of account and end user: the only form in which the caller's `user` leaves. */
  readonly endUserId: string;
  readonly report: RouteReport;
  /** Unix ms. */
  readonly createdMs: number;
  readonly attempts: AttemptRecord[] = [];
  readonly warnings: Warning[] = [];
  warningsDropped = 0;
  /** Who began the answer, or had the request when the caller hung up before that. */
  endpoint: Endpoint | undefined;
  /** What those gave that broke off, where another endpoint went on. What stands below of the answer is the last one's. */
  readonly brokenParts: AnswerPart[] = [];
  /** Who answers now. */
  serving: Server | undefined;
  /** Who had the request, and had said nothing, when the caller hung up. Whoever began the answer is not meant. */
  abandoned: Server | undefined;
  readonly rescues: RescueOutcome[] = [];
  /** Every part of the answer with what it cost, once the generation has ended. */
  served: readonly ServedPart[] = [];
  upstreamId: string | undefined;
  firstTokenMs: number | undefined;
  usage: Usage | undefined;
  end: EndEvent | undefined;
  failure: UpstreamFailure | undefined;
  error: GatewayError | undefined;
  cancelled = false;
  /** UTF-16 units of text, reasoning and tool input that came: for an estimate when no usage did. */
  answerChars = 0;
  /** Keeps what the answer says, where its workspace may want that; the only text of the answer that a record holds. */
  capture: AnswerCapture | undefined;
  /** Pictures, sounds and the like in the answer. */
  answerMedia = 0;
  /** UTF-16 units of the answer so far that whoever answers now was given with the request. */
  givenChars = 0;
  /**
   * What the account owes for all parts together, as `usage` is once the generation has ended. For calls on the caller's
   * own credentials the total holds nothing; what the provider charges for prompt and completion is told all the same.
   */
  cost: Cost | undefined;
  /** What calls on the caller's own credentials would have cost, nano-USD. `undefined`: there were none, or nobody knows. */
  listNanoUsd: number | undefined;
  readonly #clock: Clock;

  constructor(options: {
    readonly id: string;
    readonly request: GenerationRequest;
    readonly asker: Asker;
    readonly endUserId: string;
    readonly requested: string;
    readonly arrivedMs: number;
    readonly clock: Clock;
  }) {
    this.id = options.id;
    this.request = options.request;
    this.asker = options.asker;
    this.endUserId = options.endUserId;
    this.#clock = options.clock;
    this.createdMs = options.clock.nowMs();
    this.report = openRouteReport(options.requested, options.arrivedMs);
    this.warn(options.request.warnings);
  }

  warn(warnings: readonly Warning[]): void {
    for (const warning of warnings) {
      if (this.warnings.length < WARNINGS_MAX) this.warnings.push(warning);
      else this.warningsDropped++;
    }
  }

  openAttempt(candidate: {
    readonly endpoint: Endpoint;
    readonly credential?: { readonly label: string };
  }): OpenAttempt {
    const { endpoint, credential } = candidate;
    const own = credential === undefined ? {} : { credential: credential.label };
    const startedMs = this.#clock.monotonicMs();
    let isSent = false;
    this.report.attempt++;
    const close = (answered: number | null, status: number): void => {
      const { provider, providerName, model } = endpoint;
      const latencyMs = Math.round(this.#clock.monotonicMs() - startedMs);
      this.attempts.push({ provider, model, status: answered, latencyMs, ...own });
      this.report.attempts.push({ provider: providerName, model, status, ...own });
    };
    const server = (): Server => ({ endpoint, isByok: credential !== undefined, attempt: this.attempts.length });
    return {
      warn: (warnings) => this.warn(warnings),
      sent: () => void (isSent = true),
      commit: () => {
        this.failure = undefined;
        if (this.serving === undefined) this.#begin(endpoint);
        else this.#goOn(this.serving);
        this.serving = server();
        this.report.isByok ||= this.serving.isByok;
        close(200, 200);
      },
      fail: (failure) => {
        this.failure = failure;
        if (isSent && failure.kind === 'aborted') this.#abandon(server());
        close(failure.upstreamStatus ?? null, failure.upstreamStatus ?? failure.status);
      },
    };
  }

  #begin(endpoint: Endpoint): void {
    this.endpoint = endpoint;
    this.firstTokenMs = this.#clock.monotonicMs();
    this.report.selected = this.report.available.findIndex(
      (other) => other.provider === endpoint.providerName && other.model === endpoint.model,
    );
  }

  #abandon(server: Server): void {
    this.abandoned = server;
    this.endpoint ??= server.endpoint;
    this.report.isByok ||= server.isByok;
  }

  /** @param broken who gave the answer until now */
  #goOn(broken: Server): void {
    const { usage, answerChars, givenChars } = this;
    this.brokenParts.push({ ...broken, usage, answerChars, givenChars });
    this.usage = undefined;
    this.answerChars = 0;
    this.givenChars = 0;
  }

  /** Marks the end, once: durations count to here. */
  finish(): void {
    this.report.endedMs ??= this.#clock.monotonicMs();
  }
}
