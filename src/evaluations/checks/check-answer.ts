import type { RunCommand } from './command-check.ts';
import { createContext, Script } from 'node:vm';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../lib/json.ts';
import { fitsSchema } from '../../lib/json/fits-schema.ts';
import { acceptedTexts, expectedCalls, type Check, type ItemVerdict } from '../../resources/evaluations.ts';
import type { DatasetItem } from '../dataset/item.ts';
import type { Answer } from './answer.ts';
import { areExpectedCalls, isSameJson, jsonIn } from './json-checks.ts';
import { chosenLabel, isNear, lastNumber, normalize } from './text-checks.ts';

/** What became of one answer. Null: it has no score, and is left out. */
export interface Scored {
  readonly verdict: ItemVerdict;
  /** From 0 to 1. */
  readonly score: number | null;
}

/** The score that a judge gives; null: it gave no verdict. */
export type Judge = () => Promise<number | null>;

/** What takes more than a look at the answer. */
export interface SlowChecks {
  readonly judge: Judge;
  readonly runCommand: RunCommand;
}

const DEFAULT_LABELS = 'A B C D E F G H I J'.split(' ');
const PATTERN_MS_MAX = 50;
const FAILED: Readonly<Record<'refused' | 'length' | 'invalid', Scored>> = {
  refused: { verdict: 'refused', score: 0 },
  length: { verdict: 'length', score: 0 },
  invalid: { verdict: 'invalid', score: 0 },
};

/** The lowest score of all checks: an answer is as good as what it fails. */
export async function checkAnswer(
  { checks, expected }: Pick<DatasetItem, 'checks' | 'expected'>,
  answer: Answer,
  { judge, runCommand }: SlowChecks,
): Promise<Scored> {
  if (answer.refused) return FAILED.refused;
  let score = 1;
  // A command takes time and a judge costs money: their turns come once all else holds.
  for (const check of checks.toSorted((left, right) => placeOf(left) - placeOf(right))) {
    const one =
      check.type === 'judge'
        ? await judge()
        : check.type === 'command'
          ? await runCommand(check)
          : scoreOf(check, expected, answer);
    if (one === null) return { verdict: 'unjudged', score: null };
    if (one === undefined) return answer.finish === 'length' ? FAILED.length : FAILED.invalid;
    score = Math.min(score, one);
    if (score === 0) return answer.finish === 'length' ? FAILED.length : { verdict: 'fail', score };
  }
  return { verdict: score === 1 ? 'pass' : 'partial', score };
}

function placeOf({ type }: Check): number {
  return type === 'judge' ? 2 : Number(type === 'command');
}

/** `undefined`: the answer has no form that the check could be made on. */
function scoreOf(
  check: Exclude<Check, { readonly type: 'judge' | 'command' }>,
  expected: DatasetItem['expected'],
  { text, calls }: Answer,
): number | undefined {
  const accepted = acceptedTexts(expected) ?? [];
  switch (check.type) {
    case 'exact':
      return Number(accepted.includes(text));
    case 'normalized': {
      const plain = normalize(text);
      return Number(accepted.some((one) => normalize(one) === plain));
    }
    case 'contains': {
      const plain = normalize(text);
      return Number(accepted.some((one) => plain.includes(normalize(one))));
    }
    case 'regex':
      return Number(matches(check.pattern, text));
    case 'number': {
      const value = lastNumber(text);
      return value === undefined ? undefined : Number(isNear(value, Number(expected), check.tolerance ?? 0));
    }
    case 'choice': {
      const label = chosenLabel(text, check.labels ?? DEFAULT_LABELS);
      return label === undefined ? undefined : Number(accepted.some((one) => normalize(one) === normalize(label)));
    }
    case 'json_schema': {
      const value = jsonIn(text);
      return value === undefined ? undefined : Number(fitsSchema(value, schemaOf(check.schema)));
    }
    case 'json_equal': {
      const value = jsonIn(text);
      return value === undefined ? undefined : Number(isSameJson(value, expected));
    }
    case 'tool_call':
    default:
      return Number(areExpectedCalls(calls, expectedCalls(expected) ?? []));
  }
}

/** A schema that came through a validator, as plain JSON again. */
function schemaOf(schema: Readonly<Record<string, unknown>>): JsonObject {
  return isJsonObject(schema) ? schema : (parseJsonObject(JSON.stringify(schema)) ?? {});
}

const MATCH = new Script('new RegExp(pattern, "u").test(text)');

/** A pattern that takes long in spite of all rules is cut off, and does not match. */
function matches(pattern: string, text: string): boolean {
  try {
    return MATCH.runInContext(createContext({ pattern, text }), { timeout: PATTERN_MS_MAX }) === true;
  } catch {
    return false;
  }
}
