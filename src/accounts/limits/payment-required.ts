import { GatewayError } from '../../canonical/gateway-error.ts';
import { unreachable } from '../../lib/assert.ts';
import { exactUsd } from '../../lib/money.ts';
import { countedSpend, LEFT_NANO_USD_MIN, type CostBound, type SpendLimit } from './spend-limit.ts';

const WINDOW_WORD = { daily: 'daily ', weekly: 'weekly ', monthly: 'monthly ' } as const;

/**
 * The error of a request that a limit does not pay for: 402 where the caller's own limit or credit is used up, 403 where it
 * is the budget of a workspace or a guardrail. @spec money-27
 */
export function paymentRequired(
  limit: SpendLimit,
  input: CostBound,
  leftNanoUsd: number,
  reservedNanoUsd: number,
): GatewayError {
  const isPayment = limit.kind === 'key' || limit.kind === 'issuer' || limit.kind === 'account';
  const message = `${describeLack(limit, leftNanoUsd + reservedNanoUsd)} ${describeRemedy(limit, input, leftNanoUsd, reservedNanoUsd)}`;
  // Others' reservations are released when their requests end.
  const wouldFit =
    leftNanoUsd + reservedNanoUsd >= countedSpend(limit, input.least ?? input.worst) && reservedNanoUsd > 0;
  return new GatewayError(isPayment ? 'payment_required' : 'permission_denied', message, {
    lacksFunds: true,
    ...(wouldFit && { retryAfterMs: 1_000 }),
  });
}

/** Names the limit with its interval, for a workspace even where it has none. @spec money-27 */
function describeLack(spendLimit: SpendLimit, leftNanoUsd: number): string {
  const { kind, limitNanoUsd, reset } = spendLimit;
  const left = leftNanoUsd <= 0 ? 'nothing' : `${exactUsd(leftNanoUsd)} USD`;
  const always = kind === 'workspace' ? 'lifetime ' : '';
  const limit = `${reset === null ? always : WINDOW_WORD[reset]}${nounOf(spendLimit)} of ${exactUsd(limitNanoUsd)} USD`;
  switch (kind) {
    case 'account':
      return leftNanoUsd < 0
        ? `The account owes ${exactUsd(-leftNanoUsd)} USD.`
        : `The account has ${left} of its credit left.`;
    case 'key':
      return `The API key has ${left} left of its ${limit}.`;
    case 'issuer':
      return `The key that issued this API key has ${left} left of its ${limit}, which counts both.`;
    case 'workspace':
      return `The workspace has ${left} left of its ${limit}.`;
    case 'guardrail':
      return `A guardrail leaves this caller ${left} of its ${limit}.`;
    default:
      return unreachable(kind);
  }
}

function nounOf({ kind }: SpendLimit): string {
  return kind === 'workspace' || kind === 'guardrail' ? 'budget' : 'limit';
}

/** Says what is needed, and what to do. @spec money-29 */
function describeRemedy(limit: SpendLimit, input: CostBound, leftNanoUsd: number, reservedNanoUsd: number): string {
  if (leftNanoUsd + reservedNanoUsd < LEFT_NANO_USD_MIN) {
    if (limit.kind === 'account') return 'Add credit.';
    return `Raise the ${nounOf(limit)}${limit.reset === null ? '' : ', or wait for it to begin anew'}.`;
  }
  const reserved = reservedNanoUsd > 0 ? ` Requests under way hold ${exactUsd(reservedNanoUsd)} USD of it.` : '';
  const tokens = input.affordableTokens(Math.max(0, leftNanoUsd));
  const isBuyable = tokens > 0 && tokens < Infinity && (input.leastTokens === undefined || tokens < input.leastTokens);
  const mayComeFree =
    reservedNanoUsd > 0 && leftNanoUsd + reservedNanoUsd >= countedSpend(limit, input.least ?? input.worst);
  const raise = limit.kind === 'account' ? 'Add credit' : `Raise the ${nounOf(limit)}`;
  const advice = isBuyable
    ? ` Set max_tokens to ${tokens} or less.`
    : mayComeFree
      ? ' Try again when they have ended.'
      : ` ${raise}, send a shorter prompt or choose a cheaper model.`;
  return `${describeNeed(limit, input)}${reserved}${advice}`;
}

function describeNeed(limit: SpendLimit, { worst, least, leastTokens }: CostBound): string {
  if (least === undefined) return `The request may cost up to ${exactUsd(countedSpend(limit, worst))} USD.`;
  const answer =
    leastTokens === undefined ? '' : ` and ${leastTokens} ${leastTokens === 1 ? 'token' : 'tokens'} of a response`;
  return `The request needs at least ${exactUsd(countedSpend(limit, least))} USD for its prompt, fees${answer}.`;
}
