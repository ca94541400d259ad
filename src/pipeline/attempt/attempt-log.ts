import type { Warning } from '../../canonical/extra.ts';
import type { ModelRequest } from '../../canonical/operation.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { ProviderSettings } from '../../providers/contract.ts';
import { attemptSpanId, outgoingTraceHeaders } from '../../telemetry/destinations/trace-context.ts';
import type { ServingEndpoint } from '../../telemetry/response-meter.ts';
import type { RequestFacts } from '../request.ts';

interface AttemptedCandidate {
  readonly endpoint: Endpoint;
  readonly credential?: { readonly label: string };
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** An attempt under way, as log, report and meter see it. It ends with `commit` or `fail`. */
export class AttemptLog {
  readonly #facts: RequestFacts<ModelRequest>;
  readonly #candidate: AttemptedCandidate;
  readonly #limits: Pick<ServingEndpoint, 'expectedTokens' | 'tokensMax' | 'reservedTokens'>;
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;
  #isSent = false;
  #isTraced = false;

  constructor(
    facts: RequestFacts<ModelRequest>,
    candidate: AttemptedCandidate,
    monotonicMs: () => number,
    limits: Pick<ServingEndpoint, 'expectedTokens' | 'tokensMax' | 'reservedTokens'> = {},
  ) {
    this.#facts = facts;
    this.#candidate = candidate;
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#startedMs = monotonicMs();
    // Which attempt began the response: those of later turns are no further ones.
    if (facts.meter.turnRequest === undefined) facts.report.attempt++;
  }

  /** The key whose request it serves. */
  get keyHash(): string {
    return this.#facts.log.principal.keyHash;
  }

  warn(warnings: readonly Warning[]): void {
    this.#facts.log.warn(warnings);
  }

  /** The request went out. */
  sent(): void {
    this.#isSent = true;
    this.#facts.log.wasSent = true;
  }

  /** What tells the provider which trace the attempt belongs to, where the operator wants that. */
  traceHeaders({ sendsTraceContext }: Pick<ProviderSettings, 'sendsTraceContext'>): Readonly<Record<string, string>> {
    if (sendsTraceContext !== true) return NO_HEADERS;
    this.#isTraced = true;
    const { id, requestId, request, attempts } = this.#facts.log;
    return outgoingTraceHeaders({ requestId, directives: request.directives }, attemptSpanId(id, attempts.length));
  }

  /** The endpoint has begun to respond. */
  commit(): void {
    const { report, meter } = this.#facts;
    const { endpoint, credential } = this.#candidate;
    if (meter.serving === undefined && meter.firstTokenMs === undefined)
      report.selected = report.available.findIndex(
        (other) => other.provider === endpoint.providerName && other.model === endpoint.model,
      );
    meter.begin(this.#server(), this.#monotonicMs());
    report.isByok ||= credential !== undefined;
    this.#close(200, 200);
  }

  fail(failure: UpstreamFailure): void {
    const { report, meter } = this.#facts;
    meter.failure = failure;
    if (this.#isSent && failure.kind === 'aborted') {
      meter.abandon(this.#server());
      report.isByok ||= this.#candidate.credential !== undefined;
    }
    this.#close(failure.upstreamStatus ?? null, failure.upstreamStatus ?? failure.status);
  }

  #server(): ServingEndpoint {
    const { endpoint, credential } = this.#candidate;
    const { expectedTokens, tokensMax, reservedTokens } = this.#limits;
    const attempt = this.#facts.log.attempts.length;
    return { endpoint, isByok: credential !== undefined, attempt, expectedTokens, tokensMax, reservedTokens };
  }

  /** @param responded the upstream's own status; null: none came */
  #close(responded: number | null, status: number): void {
    const { log, report } = this.#facts;
    const { endpoint, credential } = this.#candidate;
    const { provider, providerName, model } = endpoint;
    const own = credential === undefined ? {} : { credential: credential.label };
    const latencyMs = Math.round(this.#monotonicMs() - this.#startedMs);
    const traced = this.#isTraced ? { isTraced: true as const } : {};
    const startMs = Math.max(0, Math.round(this.#startedMs - report.arrivedMs));
    log.attempts.push({ provider, providerName, model, status: responded, latencyMs, startMs, ...own, ...traced });
    report.attempts.push({ provider: providerName, model, status, ...own });
  }
}
