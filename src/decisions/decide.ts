import type { DecisionInput, DecisionMethod, DecisionQuestion, Verdict } from '../canonical/decisions.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Settings, Turn } from '../canonical/request.ts';
import type { GenerationResponse } from '../canonical/response.ts';
import { planCalls, type JudgeCall } from './calls.ts';
import { leastOrders, ordersOf } from './orders.ts';
import { readPercentages, schemaOf } from './percentages.ts';
import { aggregate, confidenceOf, toMillionths, totalVariation } from './probabilities.ts';
import { promptOf } from './prompt.ts';
import { isUnstable, UNSTABLE_CONFIDENCE } from './stability.ts';
import { readTokenProbabilities, tokensIn, TOP_LOGPROBS } from './token-probabilities.ts';

/** Runs one generation of the judge. @param isRepeat an earlier call gave nothing of use: another candidate goes first */
export type CallJudge = (
  call: { readonly turns: readonly Turn[]; readonly settings: Settings },
  isRepeat: boolean,
  signal: AbortSignal,
) => Promise<{ readonly response: GenerationResponse }>;

export interface DecideDeps {
  readonly call: CallJudge;
  /** Marks the state in prompts; not known to what wrote the state. */
  readonly nonce: string;
  readonly signal: AbortSignal;
  /** It reasons before it replies, as little as can be set. */
  readonly limitsReasoning: boolean;
  /** It can be held to a schema. Else the prompt alone says what form its reply has. */
  readonly takesSchema: boolean;
}

/** Calls of one decision at a time. */
const PARALLEL_MAX = 8;
/** Enough for percentages of all labels of a call, and for models that think before they reply. */
const SCHEMA_TOKENS_MAX = 4_096;
/** One label. */
const LABEL_TOKENS_MAX = 4;

/** What the orders of one question have given so far. */
interface Tally {
  readonly question: DecisionQuestion;
  readonly orders: number;
  readonly distributions: (readonly number[])[];
}

/**
 * Puts questions about a state to a judge, in several orders of their options. A question that stays without a valid
 * distribution is put once more, in the end by percentages; nothing is made up for it.
 * @throws GatewayError 502 with the ids of the questions that have no verdict; an error of the judge's own calls
 */
export async function decide(
  input: DecisionInput,
  method: DecisionMethod,
  deps: DecideDeps,
): Promise<readonly Verdict[]> {
  const first = await putQuestions(input, method, deps, false);
  const open = input.questions.filter((_, index) => verdictOf(first.tallies[index]) === undefined);
  const repeated =
    open.length === 0
      ? undefined
      : await putQuestions({ ...input, questions: open }, input.method === 'auto' ? 'schema' : method, deps, true);
  const again = new Map(repeated?.tallies.map((tally) => [tally.question.id, tally]));
  const verdicts = first.tallies.map((tally) => verdictOf(tally) ?? verdictOf(again.get(tally.question.id)));
  if (verdicts.every((verdict) => verdict !== undefined)) return verdicts;
  throw withoutVerdict(
    input.questions.filter((_, index) => !verdicts[index]),
    repeated?.error ?? first.error,
  );
}

/** @param cause an error of the judge's upstream; absent: it replied, with nothing of use */
function withoutVerdict(questions: readonly DecisionQuestion[], cause: GatewayError | undefined): GatewayError {
  const ids = questions.map(({ id }) => id);
  const why = cause === undefined ? '' : ` The last call failed: ${cause.message}`;
  return new GatewayError(
    'provider_unavailable',
    `The model gave no valid probabilities for ${ids.map((id) => JSON.stringify(id)).join(', ')}. Send the request again, or name another model.${why}`,
    { metadata: { reason: 'no_verdict', questions: ids }, cause },
  );
}

interface Outcome {
  readonly tallies: readonly Tally[];
  /** Of the last call that failed at its upstream. */
  readonly error: GatewayError | undefined;
}

async function putQuestions(
  { state, questions, ordersMax }: DecisionInput,
  method: DecisionMethod,
  deps: DecideDeps,
  isRepeat: boolean,
): Promise<Outcome> {
  const tallies = questions.map((question) => ({
    question,
    orders: ordersOf(question, method, ordersMax).length,
    distributions: [],
  }));
  const byId = new Map<string, Tally>(tallies.map((tally) => [tally.question.id, tally]));
  const left = [...planCalls(questions, method, ordersMax)];
  let error: GatewayError | undefined;
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const work = async (): Promise<void> => {
    for (let call = left.shift(); call !== undefined; call = left.shift())
      try {
        const given = await putOnce(state, call, method, { ...deps, signal }, isRepeat);
        call.questions.forEach(({ question }, index) => {
          const distribution = given[index];
          if (distribution !== undefined) byId.get(question.id)?.distributions.push(distribution);
        });
      } catch (thrown) {
        // A fault of the request, or of what its account may spend: the other calls would meet it, too.
        if (!(thrown instanceof GatewayError) || thrown.status < 500 || signal.aborted) {
          left.length = 0;
          stop.abort();
          throw thrown;
        }
        error = thrown;
      }
  };
  // All of them end before the error leaves: none is charged after the answer.
  const ended = await Promise.allSettled(Array.from({ length: Math.min(PARALLEL_MAX, left.length) }, work));
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { tallies, error };
}

async function putOnce(
  state: string,
  { questions }: JudgeCall,
  method: DecisionMethod,
  { call, nonce, signal, limitsReasoning, takesSchema }: DecideDeps,
  isRepeat: boolean,
): Promise<readonly (readonly number[] | undefined)[]> {
  const turns = promptOf(state, nonce, questions, method);
  if (method === 'logprobs') {
    const settings: Settings = {
      temperature: 0,
      maxTokens: LABEL_TOKENS_MAX,
      logprobs: true,
      topLogprobs: TOP_LOGPROBS,
    };
    const { response } = await call({ turns, settings }, isRepeat, signal);
    const tokens = tokensIn(response);
    return questions.map(({ order }) => readTokenProbabilities(tokens, order));
  }
  const settings: Settings = {
    temperature: 0,
    maxTokens: SCHEMA_TOKENS_MAX,
    ...(takesSchema && {
      responseFormat: { type: 'json_schema' as const, name: 'answers', schema: schemaOf(questions), strict: true },
    }),
    ...(limitsReasoning && { reasoning: { effort: 'minimal' as const } }),
  };
  const { response } = await call({ turns, settings }, isRepeat, signal);
  // What was cut, or refused, is no answer.
  if (response.failure !== undefined || response.end?.finish !== 'stop') return questions.map(() => undefined);
  const text = response.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  return readPercentages(text, questions);
}

function verdictOf(tally: Tally | undefined): Verdict | undefined {
  if (tally === undefined) return undefined;
  const { question, orders, distributions } = tally;
  if (distributions.length < leastOrders(orders)) return undefined;
  const all = aggregate(distributions);
  if (all === undefined) return undefined;
  const millionths = toMillionths(all);
  const spread = Math.max(...distributions.map((each) => totalVariation(each, all)));
  const confidence = confidenceOf(millionths);
  return {
    question,
    millionths,
    spread,
    confidence: isUnstable({ spread }) ? Math.min(confidence, UNSTABLE_CONFIDENCE) : confidence,
    orders: distributions.length,
  };
}
