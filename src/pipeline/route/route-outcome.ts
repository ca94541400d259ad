import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { candidateName, endpointName } from '../../routing/endpoint-name.ts';
import type { Health } from '../../routing/health.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { EndpointStats } from '../../routing/stats.ts';
import type { StickySessions } from '../../routing/sticky.ts';
import type { GenerationRecord } from '../../telemetry/record.ts';
import { createToolCheck, type ToolCheck } from '../attempt/check-tool-calls.ts';
import type { Route, UpstreamResponse } from '../request.ts';

export interface OutcomeDeps {
  readonly health: Pick<Health, 'brokeOff'>;
  readonly stats: Pick<EndpointStats, 'finished'>;
  readonly sticky: Pick<StickySessions, 'failed' | 'succeeded'>;
}

/** Tells health, statistics and session affinity how a request went. A class because it lives as long as its request. */
export class RouteOutcome {
  readonly #deps: OutcomeDeps;
  readonly #route: Pick<Route, 'session' | 'request'>;
  #chosen: UpstreamResponse | undefined;
  #tools: ToolCheck | undefined;

  constructor(deps: OutcomeDeps, route: Pick<Route, 'session' | 'request'>) {
    this.#deps = deps;
    this.#route = route;
  }

  failed({ endpoint }: Candidate): void {
    const { session } = this.#route;
    if (session !== undefined) this.#deps.sticky.failed(session, endpoint);
  }

  /** A candidate responds. @returns the response, watched where it calls tools */
  committed(given: UpstreamResponse): UpstreamResponse {
    const { session, request } = this.#route;
    this.#chosen = given;
    if (session?.isNamed === true) this.#deps.sticky.succeeded(session, given.candidate.endpoint, undefined);
    if (request.tools.length === 0) return given;
    this.#tools = createToolCheck(request.tools);
    return listenedTo(given, this.#tools);
  }

  /** The stream broke off, and another endpoint may continue it. `undefined`: by no fault of the endpoint that gave it. */
  brokeOff(failure: UpstreamFailure | undefined): void {
    if (this.#chosen !== undefined && failure !== undefined)
      this.#deps.health.brokeOff(candidateName(this.#chosen.candidate), failure);
    this.#chosen = undefined;
  }

  /** The model's turn has come to its end, and the response goes on with another one. */
  turnEnded(): void {
    this.#chosen = undefined;
  }

  /** After the charge was fixed. */
  ended(record: GenerationRecord): void {
    const chosen = this.#chosen;
    if (chosen === undefined) return;
    const { failure, error, end, report } = record;
    const usage = record.served.at(-1)?.usage;
    const isFaultless = failure?.kind === 'aborted' || failure?.kind === 'unfunded' || failure?.clock === 'total';
    if (record.cancelled || isFaultless) return;
    // The gateway ended it: a filter of the account blocked it, or a bug.
    if (failure === undefined && end === undefined && error !== undefined) return;
    const { health, stats, sticky } = this.#deps;
    const { endpoint } = chosen.candidate;
    const isBroken = failure !== undefined || end === undefined || end.finish === 'error';
    if (isBroken) {
      health.brokeOff(candidateName(chosen.candidate), failure ?? transportFailure('early-end'));
      return;
    }
    const { session } = this.#route;
    if (session !== undefined) sticky.succeeded(session, endpoint, usage);
    // A response that was cut says nothing of the usual length.
    if (end.isCut === true) return;
    const verdict = this.#tools?.verdict();
    stats.finished(endpointName(endpoint), {
      firstTokenMs: chosen.firstTokenMs - chosen.startedMs,
      totalMs: (report.endedMs ?? chosen.startedMs) - chosen.startedMs,
      outputTokens: usage?.completionTokens ?? 0,
      ...(verdict !== undefined && { toolCalls: verdict }),
    });
  }
}

function listenedTo(given: UpstreamResponse, check: ToolCheck): UpstreamResponse {
  const { source } = given;
  return {
    ...given,
    source: {
      async read() {
        const batch = await source.read();
        if (batch !== undefined) check.push(batch);
        return batch;
      },
      takeAll() {
        const all = source.takeAll?.();
        if (all !== undefined) check.push(all);
        return all;
      },
      cancel: () => source.cancel(),
    },
  };
}
