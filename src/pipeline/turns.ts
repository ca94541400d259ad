import type { GenerationRequest } from '../canonical/request.ts';
import type { RequestFitting } from '../plugins/contract.ts';
import type { Candidate, RoutePlan } from '../routing/plan.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import {
  openAttempts,
  type Attempts,
  type AttemptsParts,
  type AttemptsQuestion,
  type Committed,
  type UpstreamEcho,
} from './attempts.ts';
import { reportServed, type Route } from './choose-route.ts';
import type { OutcomeWatch } from './note-outcome.ts';
import { rescuing } from './rescue.ts';

export interface TurnsQuestion {
  readonly route: Route;
  readonly fitting: RequestFitting | undefined;
  readonly adapt: AttemptsQuestion['adapt'];
  readonly record: GenerationRecord;
  readonly outcome: OutcomeWatch;
  readonly signal: AbortSignal;
  /**
   * Sets money aside for one more who goes on with the answer to a request from the text that was delivered. Absent: what
   * breaks off stays so.
   */
  readonly rescue: ((request: GenerationRequest, delivered: string) => Promise<boolean>) | undefined;
  /** Whether the caller reads so slowly that an upstream may hang up over it. */
  readonly keptUsWaiting: () => boolean;
}

/** Turns of the model for one request: nearly always one. Each is a walk through the plan of its own. */
export interface Turns {
  /** @throws GatewayError what the last failure means for the caller */
  begin(): Promise<Committed>;
  /** A later turn of the same answer, asked first of whoever gave the last one. @throws GatewayError like `begin` */
  next(request: GenerationRequest, after: Candidate): Promise<Committed>;
  /** The request is over, and what was fetched for it can go. */
  close(): void;
}

export function openTurns(parts: AttemptsParts, question: TurnsQuestion): Turns {
  const { route, fitting, adapt, record, outcome, signal, rescue, keptUsWaiting } = question;
  const { providers } = parts;
  const open: Attempts[] = [];
  const echoes: UpstreamEcho[] = [];

  async function begin(plan: RoutePlan, request: GenerationRequest): Promise<Committed> {
    const { failed: onFailed } = outcome;
    const attempts = openAttempts(parts, { plan, request, fitting, adapt, record, signal, echoes, onFailed });
    open.push(attempts);
    const committed = outcome.committed(await attempts.begin());
    if (rescue === undefined) return committed;
    const fund = (delivered: string): Promise<boolean> => rescue(request, delivered);
    return rescuing(committed, { providers, request, attempts, record, outcome, signal, keptUsWaiting, fund });
  }

  return {
    async begin() {
      const committed = await begin(route.plan, route.request);
      reportServed(record.report, route, committed.candidate.endpoint);
      return committed;
    },
    next(request, after) {
      record.asked = request;
      outcome.turnEnded();
      return begin(startingWith(after, route.plan), request);
    },
    close() {
      for (const attempts of open) attempts.close();
    },
  };
}

/** @source generation.md 5.2 item 2: the same endpoint; where it fails, the others stand in for this turn */
function startingWith({ probe: _probe, ...first }: Candidate, plan: RoutePlan): RoutePlan {
  const isSame = ({ endpoint, credential }: Candidate): boolean =>
    endpoint === first.endpoint && credential?.id === first.credential?.id;
  const cooling = plan.cooling.filter(({ candidate }) => !isSame(candidate));
  return { ...plan, cooling, candidates: [first, ...plan.candidates.filter((other) => !isSame(other))] };
}
