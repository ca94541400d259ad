import { transportFailure } from '../canonical/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { candidateName, endpointName } from '../routing/endpoint-name.ts';
import type { Health } from '../routing/health.ts';
import type { Candidate } from '../routing/plan.ts';
import type { EndpointStats } from '../routing/stats.ts';
import type { StickySessions } from '../routing/sticky.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { Committed } from './attempts.ts';
import { createToolCheck, type ToolCheck } from './check-tool-calls.ts';
import type { Route } from './choose-route.ts';

export interface OutcomeParts {
  readonly health: Pick<Health, 'brokeOff'>;
  readonly stats: Pick<EndpointStats, 'finished'>;
  readonly sticky: Pick<StickySessions, 'failed' | 'succeeded'>;
}

/** Tells what routing learns from, as one request goes its way. */
export interface OutcomeWatch {
  failed(candidate: Candidate): void;
  /** The answer, listened to where that tells something. */
  committed(chosen: Committed): Committed;
  /** The answer broke off, and somebody else may go on with it. `undefined`: by no fault of whoever gave it. */
  brokeOff(failure: UpstreamFailure | undefined): void;
  /** The model's turn has come to its end, and the answer goes on with another one. */
  turnEnded(): void;
  /** After the answer was accounted for. */
  ended(record: GenerationRecord): void;
}

type Watched = Pick<Route, 'session' | 'request'>;

export function createOutcomeWatch(parts: OutcomeParts, route: Watched): OutcomeWatch {
  return new RouteOutcome(parts, route);
}

/** A class because it lives as long as its request. */
class RouteOutcome implements OutcomeWatch {
  readonly #parts: OutcomeParts;
  readonly #route: Watched;
  #chosen: Committed | undefined;
  #tools: ToolCheck | undefined;

  constructor(parts: OutcomeParts, route: Watched) {
    this.#parts = parts;
    this.#route = route;
  }

  failed({ endpoint }: Candidate): void {
    const { session } = this.#route;
    if (session !== undefined) this.#parts.sticky.failed(session, endpoint);
  }

  committed(given: Committed): Committed {
    const { session, request } = this.#route;
    this.#chosen = given;
    if (session?.isNamed === true) this.#parts.sticky.succeeded(session, given.candidate.endpoint, undefined);
    if (request.tools.length === 0) return given;
    this.#tools = createToolCheck(request.tools);
    return listenedTo(given, this.#tools);
  }

  brokeOff(failure: UpstreamFailure | undefined): void {
    if (this.#chosen !== undefined && failure !== undefined)
      this.#parts.health.brokeOff(candidateName(this.#chosen.candidate), failure);
    this.#chosen = undefined;
  }

  turnEnded(): void {
    this.#chosen = undefined;
  }

  ended(record: GenerationRecord): void {
    const chosen = this.#chosen;
    if (chosen === undefined) return;
    const { failure, error, end, report } = record;
    const usage = record.served.at(-1)?.usage;
    const isNobodysFault = failure?.kind === 'aborted' || failure?.kind === 'unfunded' || failure?.clock === 'total';
    if (record.cancelled || isNobodysFault) return;
    // It is we who ended it: a filter of the account's blocked it, or we broke.
    if (failure === undefined && end === undefined && error !== undefined) return;
    const { health, stats, sticky } = this.#parts;
    const { endpoint } = chosen.candidate;
    const isBroken = failure !== undefined || end === undefined || end.finish === 'error';
    if (isBroken) {
      health.brokeOff(candidateName(chosen.candidate), failure ?? transportFailure('early-end'));
      return;
    }
    const { session } = this.#route;
    if (session !== undefined) sticky.succeeded(session, endpoint, usage);
    const verdict = this.#tools?.verdict();
    stats.finished(endpointName(endpoint), {
      firstTokenMs: chosen.firstTokenMs - chosen.startedMs,
      totalMs: (report.endedMs ?? chosen.startedMs) - chosen.startedMs,
      outputTokens: usage?.completionTokens ?? 0,
      ...(verdict !== undefined && { toolCalls: verdict }),
    });
  }
}

function listenedTo(given: Committed, check: ToolCheck): Committed {
  const { source } = given;
  return {
    ...given,
    source: {
      async read() {
        const batch = await source.read();
        if (batch !== undefined) check.push(batch);
        return batch;
      },
      cancel: () => source.cancel(),
    },
  };
}
