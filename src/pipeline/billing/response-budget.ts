import type { BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { Spent } from '../../accounts/limits/spend-limit.ts';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { EventSource } from '../../canonical/events.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { BudgetedStream } from './budgeted-stream.ts';
import { withMaximum } from './route-estimate.ts';
import type { BudgetReservation, TurnBudget } from '../admission/budget-reservation.ts';
import { ESTIMATE_MARGIN, type ResponsePrice } from './cost-estimate.ts';

/**
 * Keeps an answer without a maximum of its caller's within what is reserved for it: a whole one by a maximum that it is sent,
 * a stream by extending the reservation while it comes. Callers without limits, and responses with a maximum, pass.
 * @spec money-34, money-37
 */
export interface ResponseBudget {
  /** What a turn asks of every candidate. */
  bound(request: GenerationRequest): GenerationRequest;
  /** The same for one of them: no maximum is sent that is beyond its own. */
  fit(request: GenerationRequest, candidate: Candidate): GenerationRequest;
  /** One attempt of the turn that runs now. */
  open(candidate: Candidate): AttemptBudget;
}

export interface AttemptBudget {
  /** The longest answer that is reserved for, in tokens. `undefined`: any. */
  readonly tokensMax: () => number | undefined;
  /** The answer, which ends where its reservation does. */
  follow(source: EventSource): EventSource;
}

type EndedLog = Pick<RequestLog, 'endAtBudget'>;

const UNLIMITED: AttemptBudget = { tokensMax: () => undefined, follow: (source) => source };

export function createResponseBudget(budgetReservation: BudgetReservation, log: EndedLog): ResponseBudget {
  return {
    bound(request) {
      const { budget } = budgetReservation;
      if (budget?.delivery !== 'whole') return request;
      const tokens = budget.tokensFor(budget.room());
      return tokens === Infinity ? request : withMaximum(request, tokens);
    },
    fit(request, { endpoint: { outputTokensMax = Infinity, contextTokensMax = Infinity } }) {
      const { budget } = budgetReservation;
      const { maxTokens } = request.settings;
      if (budget?.delivery !== 'whole' || maxTokens === undefined) return request;
      if (maxTokens >= outputTokensMax) return withoutMaximum(request);
      if (contextTokensMax === Infinity) return request;
      // Some upstreams refuse a maximum that does not fit beside the prompt.
      const left = contextTokensMax - Math.ceil(estimateRequestTokens(request) * ESTIMATE_MARGIN);
      return maxTokens <= left
        ? request
        : withMaximum(request, Math.max(left, Math.min(maxTokens, budget.leastTokens)));
    },
    open(candidate) {
      const { budget } = budgetReservation;
      if (budget === undefined) return UNLIMITED;
      return budget.delivery === 'whole'
        ? wholeResponse(budget, candidate, log)
        : stream(budgetReservation, budget, candidate, log);
    },
  };
}

function withoutMaximum(request: GenerationRequest): GenerationRequest {
  const { maxTokens: _ours, ...settings } = request.settings;
  return { ...request, settings };
}

/** Its maximum ends it; the record says whose that was. */
function wholeResponse(
  budget: TurnBudget,
  { endpoint: { outputTokensMax = Infinity } }: Candidate,
  log: EndedLog,
): AttemptBudget {
  const tokens = budget.tokensFor(budget.room());
  if (tokens === Infinity || tokens >= outputTokensMax) return UNLIMITED;
  return {
    tokensMax: () => tokens,
    follow: (source) => ({
      async read() {
        const batch = await source.read();
        if (batch?.some((event) => event.type === 'end' && event.finish === 'length') === true)
          log.endAtBudget('reached', `the response may have ${tokens} tokens at most: more could not be reserved`);
        return batch;
      },
      cancel: () => source.cancel(),
    }),
  };
}

function stream(
  budgetReservation: BudgetReservation,
  budget: TurnBudget,
  candidate: Candidate,
  log: EndedLog,
): AttemptBudget {
  const price = budget.priceOf(candidate);
  const isByok = candidate.credential !== undefined;
  const reserved = (): number => {
    const { ownNanoUsd, byokNanoUsd } = budget.room();
    return price.tokensFor(isByok ? byokNanoUsd : ownNanoUsd);
  };
  const tokensMax = (): number | undefined => {
    const tokens = reserved();
    return tokens === Infinity ? undefined : tokens;
  };
  const slice = Math.max(1, price.tokensFor(price.costOf(0) + budget.sliceNanoUsd));
  return {
    tokensMax,
    follow: (source) =>
      reserved() === Infinity
        ? source
        : new BudgetedStream(source, {
            reserved,
            extend: (usedTokens) =>
              budgetReservation.extend(budget, () =>
                extension({ budget, price, isByok, from: Math.max(usedTokens, reserved()), slice }),
              ),
            onCut: (reason) => log.endAtBudget(reason, CUT[reason]),
          }),
  };
}

const CUT = {
  reached: "the response ends here: the caller's limits leave no more to reserve for it",
  unknown: "the response ends here: what the caller's limits leave could not be checked in time",
} as const;

interface Extension {
  readonly budget: TurnBudget;
  readonly price: ResponsePrice;
  readonly isByok: boolean;
  /** In tokens: what is used or reserved by now, and what is to come on top. */
  readonly from: number;
  readonly slice: number;
}

/** At the price of the endpoint that responds now: any other needs a reservation of its own. */
function extension({ budget: { spent }, price, isByok, from, slice }: Extension): BudgetEstimate {
  const costOf = (tokens: number): Spent => {
    const nanoUsd = price.costOf(tokens);
    return isByok
      ? { ...spent, byokNanoUsd: spent.byokNanoUsd + nanoUsd }
      : { ...spent, ownNanoUsd: spent.ownNanoUsd + nanoUsd };
  };
  return {
    generationId: '',
    worst: costOf(from + slice),
    least: costOf(from + 1),
    spent,
    affordableTokens: price.tokensFor,
  };
}
