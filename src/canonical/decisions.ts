import type { Directives } from './directives.ts';
import type { Warning } from './extra.ts';

/** One of the options of a question: its key is what the caller reads, its text what the judge reads beside it. */
export interface DecisionOption {
  readonly key: string;
  readonly text?: string;
}

/** `score` has its levels as options, low to high, with the keys `1`, `2` and so on; `noul` has `true` and `false`. */
export interface DecisionQuestion {
  readonly id: string;
  readonly type: 'choice' | 'score' | 'noul';
  readonly instructions: string;
  readonly options: readonly DecisionOption[];
}

/** All that a judge reads of it. Keys of scores are numbers. */
export function textsOfQuestion({ type, instructions, options }: DecisionQuestion): readonly string[] {
  return [
    instructions,
    ...options.flatMap(({ key, text }) => [...(type === 'choice' ? [key] : []), ...(text === undefined ? [] : [text])]),
  ];
}

/** @param texts as `textsOfQuestion` gives them; those that it uses are removed */
export function withTextsOfQuestion(question: DecisionQuestion, texts: string[]): DecisionQuestion {
  const instructions = texts.shift() ?? '';
  const options = question.options.map(({ key, text }) => ({
    key: question.type === 'choice' ? (texts.shift() ?? '') : key,
    ...(text !== undefined && { text: texts.shift() ?? '' }),
  }));
  return { ...question, instructions, options };
}

/** How a chat model is made to decide: by the probabilities of its next token, or by percentages that it writes. */
export type DecisionMethod = 'logprobs' | 'schema';

/** A request to a decision model, which writes no text. */
export interface DecisionOperation {
  readonly kind: 'decisions';
  readonly delivery: 'whole';
  readonly state: string;
  /** The state is the text of a JSON value. */
  readonly isJson?: boolean;
  readonly questions: readonly DecisionQuestion[];
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  /** It has no members that the gateway does not know. */
  readonly extra?: undefined;
  readonly warnings: readonly Warning[];
}

/** What a judge is to decide. */
export interface DecisionInput {
  /** Data, as text. */
  readonly state: string;
  readonly questions: readonly DecisionQuestion[];
  /** `auto`: log-probabilities where the model's endpoints state them. `native`: by a decision model alone. */
  readonly method: 'auto' | 'native' | DecisionMethod;
  /** Bound on the orders in which options are put to the judge. Absent: as many as cancel a bias of position. */
  readonly ordersMax?: number;
}

/** A decision as a caller requested it. */
export interface DecisionRequest extends DecisionInput {
  /** The name of a calibration; `auto`: what fits the model; `off`: none. Absent: `off`. */
  readonly calibration?: string;
  /** The state is the text of a JSON value. */
  readonly isJson?: boolean;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  readonly warnings: readonly Warning[];
}

/** What a judge is consulted with, inside a request or a job. */
export interface DecideOptions {
  /** Slugs; the first one judges, the others where it does not. */
  readonly models: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Decided {
  /** In the order of the questions. */
  readonly verdicts: readonly Verdict[];
  /** The model that judged, and what all of its calls cost. */
  readonly model: string;
  readonly costNanoUsd: number;
}

/**
 * Puts questions about a state to a judge. The state is data, whatever it says, and is cut in its middle to what the judge
 * can read.
 * @throws GatewayError where there is no verdict on one of them, for whatever reason: nothing is made up
 */
export type Decide = (
  state: string,
  questions: readonly DecisionQuestion[],
  options: DecideOptions,
) => Promise<Decided>;

/** The outcome of one question. */
export interface Verdict {
  readonly question: DecisionQuestion;
  /** Millionths, one for each option in the order of the question; their sum is 1,000,000. */
  readonly millionths: readonly number[];
  /** From 0, all options are alike, to 1. */
  readonly confidence: number;
  /** The greatest total variation between one order of the options and all of them, from 0 to 1. */
  readonly spread: number;
  /** Orders that gave a distribution. */
  readonly orders: number;
}
