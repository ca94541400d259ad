import type { DecisionOperation, DecisionQuestion } from '../../../canonical/decisions.ts';
import type { OperationFormatId } from '../../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../../canonical/failure/failure.ts';
import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject, parseJson, parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { decodeError } from '../../upstream-error.ts';

/** What a decision model says of one question, as it wrote it. */
export interface NativeAnswer {
  /** In the order of the question's options. */
  readonly probabilities: readonly number[];
  /** Absent: it gave none. */
  readonly confidence?: number;
}

export interface DecodedDecision {
  /** In the order of the questions. */
  readonly answers: readonly NativeAnswer[];
  /** As it counted; absent: it did not. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly id?: string;
}

/** The form of decision models. @source console.upstage.ai "System One API", docs.sarvam.ai "Decisions API", read 2026-11 */
export const nativeDecisions: {
  readonly id: OperationFormatId;
  readonly path: string;
  readonly encode: (operation: DecisionOperation, model: string) => JsonObject;
  readonly decode: (bytes: Buffer, questions: readonly DecisionQuestion[]) => DecodedDecision | undefined;
  readonly decodeError: (text: string) => UpstreamErrorBody;
} = { id: 'decisions/native', path: '/systemone', encode, decode, decodeError };

function encode({ state, isJson, questions }: DecisionOperation, model: string): JsonObject {
  return {
    model,
    // What a content filter replaced in it may have left no JSON.
    state: (isJson === true ? parseJson(state) : undefined) ?? state,
    questions: Object.fromEntries(questions.map((question) => [question.id, encodeQuestion(question)])),
  };
}

function encodeQuestion({ type, instructions, options }: DecisionQuestion): JsonObject {
  const texts = options.map(({ key, text }) => [key, text ?? null] as const);
  if (type === 'choice') return { type, instructions, criteria: Object.fromEntries(texts) };
  if (type === 'score') return { type, instructions, criteria: texts.map(([, text]) => text) };
  const criteria = Object.fromEntries(texts.filter(([, text]) => text !== null));
  return { type, instructions, ...(Object.keys(criteria).length > 0 && { criteria }) };
}

/** `undefined`: it is no answer to these questions. */
function decode(bytes: Buffer, questions: readonly DecisionQuestion[]): DecodedDecision | undefined {
  const { answers, usage, id } = parseJsonObject(bytes.toString('utf8')) ?? {};
  if (!isJsonObject(answers)) return undefined;
  const read = questions.flatMap((question) => decodeAnswer(question, answers[question.id]) ?? []);
  if (read.length < questions.length) return undefined;
  const counts = isJsonObject(usage) ? usage : {};
  const [inputTokens, outputTokens] = [totalCount(counts['input_tokens']), totalCount(counts['output_tokens'])];
  return {
    answers: read,
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(typeof id === 'string' && { id }),
  };
}

/** Probabilities are written with as few as two decimals: their sum is off by up to so much, and by half of one for each option. */
const SUM_TOLERANCE = 0.02;
const ROUNDING = 0.005;

function decodeAnswer({ type, options }: DecisionQuestion, answer: Json | undefined): NativeAnswer | undefined {
  if (!isJsonObject(answer) || answer['type'] !== type) return undefined;
  const { noul, confidence, probabilities } = answer;
  const given =
    type === 'noul'
      ? yesAndNo(noul)
      : listed(
          probabilities,
          options.map(({ key }, at) => (type === 'score' ? String(at) : key)),
        );
  if (given === undefined || !given.every((value) => value >= 0 && value <= 1)) return undefined;
  const sum = given.reduce((total, value) => total + value, 0);
  if (Math.abs(sum - 1) > Math.max(SUM_TOLERANCE, given.length * ROUNDING)) return undefined;
  const isSure = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
  return { probabilities: given, ...(isSure && { confidence }) };
}

function yesAndNo(noul: Json | undefined): readonly number[] | undefined {
  return typeof noul === 'number' ? [noul, 1 - noul] : undefined;
}

/** One for each key and no other; levels may come as a list, too. */
function listed(value: Json | undefined, keys: readonly string[]): readonly number[] | undefined {
  const given = Array.isArray(value) ? Object.fromEntries(value.entries()) : value;
  if (!isJsonObject(given) || Object.keys(given).length !== keys.length) return undefined;
  const read = keys.flatMap((key) => {
    const probability = Object.hasOwn(given, key) ? given[key] : undefined;
    return typeof probability === 'number' ? [probability] : [];
  });
  return read.length === keys.length ? read : undefined;
}
