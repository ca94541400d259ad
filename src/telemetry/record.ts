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

/** Who asked. */
export interface Asker {
  readonly keyHash: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** On whose behalf the key was made; null: nobody's. */
  readonly memberId: string | null;
}

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
  endpoint: Endpoint | undefined;
  upstreamId: string | undefined;
  firstTokenMs: number | undefined;
  usage: Usage | undefined;
  end: EndEvent | undefined;
  failure: UpstreamFailure | undefined;
  error: GatewayError | undefined;
  cancelled = false;
  /** UTF-16 units of text, reasoning and tool input that came: for an estimate when no usage did. */
  answerChars = 0;
  cost: Cost | undefined;
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

  openAttempt(candidate: { readonly endpoint: Endpoint }): {
    warn(warnings: readonly Warning[]): void;
    commit(): void;
    fail(failure: UpstreamFailure): void;
  } {
    const { endpoint } = candidate;
    const startedMs = this.#clock.monotonicMs();
    this.report.attempt++;
    const close = (answered: number | null, status: number): void => {
      const { provider, providerName, model } = endpoint;
      const latencyMs = Math.round(this.#clock.monotonicMs() - startedMs);
      this.attempts.push({ provider, model, status: answered, latencyMs });
      this.report.attempts.push({ provider: providerName, model, status });
    };
    return {
      warn: (warnings) => this.warn(warnings),
      commit: () => {
        this.endpoint = endpoint;
        this.failure = undefined;
        this.firstTokenMs = this.#clock.monotonicMs();
        this.report.selected = this.report.available.findIndex(
          (other) => other.provider === endpoint.providerName && other.model === endpoint.model,
        );
        close(200, 200);
      },
      fail: (failure) => {
        this.failure = failure;
        close(failure.upstreamStatus ?? null, failure.upstreamStatus ?? failure.status);
      },
    };
  }

  /** Marks the end, once: durations count to here. */
  finish(): void {
    this.report.endedMs ??= this.#clock.monotonicMs();
  }
}
