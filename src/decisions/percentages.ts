import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { isListed, labelAt, questionLabel, type OrderedQuestion } from './prompt.ts';
import { normalize } from './probabilities.ts';

/** So that what is said to be certain, or impossible, is neither. */
const SMOOTHING = 0.5;
const HUNDRED = 100;
const LISTED_MAX = 10;

const PERCENT: JsonObject = { type: 'integer' };

/** The strict schema of the judge's answer to several questions. Bounds of numbers are checked here: not every vendor takes them. */
export function schemaOf(questions: readonly OrderedQuestion[]): JsonObject {
  return closedObject({
    answers: closedObject(
      Object.fromEntries(questions.map((each, position) => [questionLabel(position), schemaOfAnswer(each)])),
    ),
  });
}

function schemaOfAnswer({ question, order }: OrderedQuestion): JsonObject {
  if (!isListed(question))
    return closedObject({
      percent: closedObject(Object.fromEntries(labelsOf(order).map((label) => [label, PERCENT]))),
    });
  const entry = closedObject({ label: { type: 'string' }, percent: PERCENT });
  return closedObject({ top: { type: 'array', items: entry }, rest: PERCENT });
}

function closedObject(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * The distributions over the options of each question, in the order of the question.
 * @returns `undefined` in the place of each question that the text gives no valid percentages for
 */
export function readPercentages(
  text: string,
  questions: readonly OrderedQuestion[],
): readonly (readonly number[] | undefined)[] {
  const answers = answersIn(text);
  return questions.map((each, position) => {
    const answer = answers?.[questionLabel(position)];
    if (!isJsonObject(answer)) return undefined;
    const percent = isListed(each.question) ? listedPercent(answer, each.order) : labelledPercent(answer, each.order);
    if (percent === undefined || percent.every((value) => value === 0)) return undefined;
    const smoothed = normalize(percent.map((value) => value + SMOOTHING));
    return smoothed && inGivenOrder(smoothed, each.order);
  });
}

/** From the order that the judge read to that of the question. */
export function inGivenOrder(distribution: readonly number[], order: readonly number[]): readonly number[] {
  const given = distribution.map(() => 0);
  order.forEach((option, position) => (given[option] = distribution[position] ?? 0));
  return given;
}

function answersIn(text: string): JsonObject | undefined {
  try {
    const parsed: Json = JSON.parse(text);
    const answers = isJsonObject(parsed) ? parsed['answers'] : undefined;
    return isJsonObject(answers) ? answers : undefined;
  } catch {
    return undefined;
  }
}

function labelledPercent({ percent }: JsonObject, order: readonly number[]): readonly number[] | undefined {
  if (!isJsonObject(percent) || Object.keys(percent).length !== order.length) return undefined;
  const values = labelsOf(order).map((label) => percentOf(percent[label]));
  return values.every((value) => value !== undefined) ? values : undefined;
}

function listedPercent({ top, rest }: JsonObject, order: readonly number[]): readonly number[] | undefined {
  const restPercent = percentOf(rest);
  if (!Array.isArray(top) || top.length > LISTED_MAX || restPercent === undefined) return undefined;
  const positions = new Map(labelsOf(order).map((label, position) => [label, position]));
  const named = new Map<number, number>();
  for (const entry of top) {
    const { label, percent: stated } = isJsonObject(entry) ? entry : {};
    const position = typeof label === 'string' ? positions.get(label) : undefined;
    const percent = percentOf(stated);
    if (position === undefined || percent === undefined || named.has(position)) return undefined;
    named.set(position, percent);
  }
  const others = order.length - named.size;
  return order.map((_, position) => named.get(position) ?? restPercent / others);
}

function percentOf(value: Json | undefined): number | undefined {
  const isPercent = typeof value === 'number' && value >= 0 && value <= HUNDRED;
  return isPercent ? value : undefined;
}

function labelsOf(order: readonly number[]): readonly string[] {
  return order.map((_, position) => labelAt(position, order.length));
}
