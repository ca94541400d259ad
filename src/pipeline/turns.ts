import type { GenerationRequest } from '../canonical/request.ts';
import type { RequestFitting } from '../plugins/contract.ts';
import type { Candidate, RoutePlan } from '../routing/plan.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { UpstreamEcho } from './attempt.ts';
import { openAttempts, type Attempts, type AttemptsParts, type AttemptsQuestion, type Committed } from './attempts.ts';
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
  return new OpenTurns(parts, question);
}

/** A class because it lives as long as its request. */
class OpenTurns implements Turns {
  readonly #parts: AttemptsParts;
  readonly #question: TurnsQuestion;
  readonly #open: Attempts[] = [];
  readonly #echoes: UpstreamEcho[] = [];

  constructor(parts: AttemptsParts, question: TurnsQuestion) {
    this.#parts = parts;
    this.#question = question;
  }

  begin(): Promise<Committed> {
    const { route, record } = this.#question;
    return this.#ask(route.plan, route.request, (committed) =>
      reportServed(record.report, route, committed.candidate.endpoint),
    );
  }

  next(request: GenerationRequest, after: Candidate): Promise<Committed> {
    const { route, record, outcome } = this.#question;
    record.asked = request;
    outcome.turnEnded();
    return this.#ask(startingWith(after, route.plan), request);
  }

  close(): void {
    for (const attempts of this.#open) attempts.close();
  }

  async #ask(
    plan: RoutePlan,
    request: GenerationRequest,
    onCommitted?: (committed: Committed) => void,
  ): Promise<Committed> {
    const { fitting, adapt, record, outcome, signal, rescue, keptUsWaiting } = this.#question;
    const echoes = this.#echoes;
    const attempts = openAttempts(this.#parts, { plan, request, fitting, adapt, record, signal, echoes, outcome });
    this.#open.push(attempts);
    const committed = outcome.committed(await attempts.begin());
    onCommitted?.(committed);
    if (rescue === undefined) return committed;
    const { providers } = this.#parts;
    const fund = (delivered: string): Promise<boolean> => rescue(request, delivered);
    return rescuing(committed, { providers, request, attempts, record, outcome, signal, keptUsWaiting, fund });
  }
}

/** @source generation.md 5.2 item 2: the same endpoint; where it fails, the others stand in for this turn */
function startingWith({ probe: _probe, ...first }: Candidate, plan: RoutePlan): RoutePlan {
  const isSame = ({ endpoint, credential }: Candidate): boolean =>
    endpoint === first.endpoint && credential?.id === first.credential?.id;
  const cooling = plan.cooling.filter(({ candidate }) => !isSame(candidate));
  return { ...plan, cooling, candidates: [first, ...plan.candidates.filter((other) => !isSame(other))] };
}
