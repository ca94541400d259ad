import type { Calibration } from '../../canonical/calibration.ts';
import type { DecisionMethod, Verdict } from '../../canonical/decisions.ts';
import type { Warning } from '../../canonical/extra.ts';
import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { AnswerIdentity } from '../format.ts';

const MILLION = 1_000_000;

/** What a decision came to. */
export interface DecisionOutcome {
  readonly verdicts: readonly Verdict[];
  /** `native`: by a model that decides by itself. */
  readonly method: 'native' | DecisionMethod;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `undefined`: the price of a call is unknown. */
  readonly costNanoUsd: number | undefined;
  /** Ids of the generations that were run. */
  readonly generations: readonly string[];
  readonly warnings: readonly Warning[];
  /** That was applied. */
  readonly calibration?: Calibration | undefined;
}

/** The body of the answer. */
export function encodeDecisions(
  { verdicts, method, inputTokens, outputTokens, costNanoUsd, generations, warnings, calibration }: DecisionOutcome,
  { id, model, provider }: AnswerIdentity,
  createdS: number,
): JsonObject {
  return {
    id,
    model,
    provider,
    created: createdS,
    answers: Object.fromEntries(verdicts.map((verdict) => [verdict.question.id, encodeVerdict(verdict)])),
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cost: costNanoUsd === undefined ? null : usdFromNano(costNanoUsd),
    },
    emulated: method !== 'native',
    method,
    orders: Math.max(...verdicts.map(({ orders }) => orders)),
    calibration:
      calibration === undefined ? null : { name: calibration.name, temperature: { ...calibration.temperatures } },
    generations: [...generations],
    ...(warnings.length > 0 && { warnings: warnings.map((warning) => ({ ...warning })) }),
  };
}

function encodeVerdict({ question, millionths, confidence, spread }: Verdict): JsonObject {
  const { type, options } = question;
  const probabilities = millionths.map((value) => value / MILLION);
  const common = { confidence: rounded(confidence), spread: rounded(spread) };
  const likeliest = millionths.indexOf(Math.max(...millionths));
  if (type === 'choice')
    return {
      type,
      choice: options[likeliest]?.key ?? '',
      probabilities: Object.fromEntries(options.map(({ key }, index) => [key, probabilities[index] ?? 0])),
      ...common,
    };
  if (type === 'noul') return { type, noul: probabilities[0] ?? 0, ...common };
  return {
    type,
    score: rounded(probabilities.reduce((sum, probability, index) => sum + probability * index, 0)),
    level: likeliest,
    legend: byLevel(options.map(({ text = '' }) => text)),
    probabilities: byLevel(probabilities),
    ...common,
  };
}

/** Levels are named by their numbers, from 0, as decision models name them. @source databricks/sdk-js, `AiDecideResponse`, read 2026-11 */
function byLevel<Value extends string | number>(values: readonly Value[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(values.map((value, level) => [level, value]));
}

function rounded(value: number): number {
  return Math.round(value * MILLION) / MILLION;
}
