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
  readonly failed: (candidate: Candidate) => void;
  /** The answer, listened to where that tells something. */
  committed(chosen: Committed): Committed;
  /** The answer broke off, and somebody else may go on with it. `undefined`: by no fault of whoever gave it. */
  brokeOff(failure: UpstreamFailure | undefined): void;
  /** The model's turn has come to its end, and the answer goes on with another one. */
  turnEnded(): void;
  /** After the answer was accounted for. */
  ended(record: GenerationRecord): void;
}

export function createOutcomeWatch(
  { health, stats, sticky }: OutcomeParts,
  { session, request }: Pick<Route, 'session' | 'request'>,
): OutcomeWatch {
  let chosen: Committed | undefined;
  let tools: ToolCheck | undefined;
  return {
    failed({ endpoint }) {
      if (session !== undefined) sticky.failed(session, endpoint);
    },
    committed(given) {
      chosen = given;
      const { endpoint } = given.candidate;
      if (session?.isNamed === true) sticky.succeeded(session, endpoint, undefined);
      if (request.tools.length === 0) return given;
      const check = createToolCheck(request.tools);
      tools = check;
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
    },
    brokeOff(failure) {
      if (chosen !== undefined && failure !== undefined) health.brokeOff(candidateName(chosen.candidate), failure);
      chosen = undefined;
    },
    turnEnded() {
      chosen = undefined;
    },
    ended(record) {
      if (chosen === undefined) return;
      const { endpoint } = chosen.candidate;
      const name = endpointName(endpoint);
      const { failure, error, end, report } = record;
      const usage = record.served.at(-1)?.usage;
      const isNobodysFault = failure?.kind === 'aborted' || failure?.kind === 'unfunded' || failure?.clock === 'total';
      if (record.cancelled || isNobodysFault) return;
      // It is we who ended it: a filter of the account's blocked it, or we broke.
      if (failure === undefined && end === undefined && error !== undefined) return;
      const isBroken = failure !== undefined || end === undefined || end.finish === 'error';
      if (isBroken) {
        health.brokeOff(candidateName(chosen.candidate), failure ?? transportFailure('early-end'));
        return;
      }
      if (session !== undefined) sticky.succeeded(session, endpoint, usage);
      const verdict = tools?.verdict();
      stats.finished(name, {
        firstTokenMs: chosen.firstTokenMs - chosen.startedMs,
        totalMs: (report.endedMs ?? chosen.startedMs) - chosen.startedMs,
        outputTokens: usage?.completionTokens ?? 0,
        ...(verdict !== undefined && { toolCalls: verdict }),
      });
    },
  };
}
