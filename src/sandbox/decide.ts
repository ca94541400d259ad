import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { Refusal } from './refusal.ts';

/** The model that decides by itself. */
export const DECIDE = 'decide';

const QUESTIONS_MAX = 64;
/** As often as an option's name stands in the state, at most so often. */
const COUNT_MAX = 5;
const SLOW_MS = 120_000;
const CHARS_PER_TOKEN = 4;
/** So much that no reader takes it for rounding. */
const WRONG_SUM = 0.5;

/**
 * The answer of `POST /v1/systemone`, as JSON text, in the form of decision models. An option weighs one, and one more for each time that its name
 * stands in the state; `{"sandbox": {"answers": {ID: {OPTION: WEIGHT}}}}` as the state sets weights, and `{"sandbox": {"fail":
 * "malformed" | "sum" | "slow"}}` makes it fail. @throws Refusal
 */
export async function decide(body: Json | undefined, signal: AbortSignal): Promise<string> {
  if (!isJsonObject(body)) throw new Refusal(400, 'We could not parse the JSON body of your request.');
  const { model, state, questions } = body;
  const name = typeof model === 'string' ? model.replace(/^sandbox\//, '') : '';
  if (name !== DECIDE)
    throw new Refusal(404, `The model \`${name.slice(0, 100)}\` does not exist.`, { code: 'model_not_found' });
  if (!isJsonObject(questions) || Object.keys(questions).length === 0 || Object.keys(questions).length > QUESTIONS_MAX)
    throw new Refusal(400, `questions: must have 1 to ${QUESTIONS_MAX} members.`);
  const script = isJsonObject(state) && isJsonObject(state['sandbox']) ? state['sandbox'] : {};
  if (script['fail'] === 'slow') await sleep(SLOW_MS, undefined, { signal });
  const text = typeof state === 'string' ? state : JSON.stringify(state ?? null);
  const answers = Object.entries(questions).map(([id, question]) => {
    const weights = isJsonObject(script['answers']) ? script['answers'][id] : undefined;
    return [id, answerOf(question, weights, text.toLowerCase(), script['fail'] === 'sum')] as const;
  });
  const isMalformed = script['fail'] === 'malformed';
  return JSON.stringify({
    id: 'decision-sandbox',
    model: DECIDE,
    answers: isMalformed ? { prose: 'It is most likely the first one.' } : Object.fromEntries(answers),
    usage: { input_tokens: Math.ceil(JSON.stringify(body).length / CHARS_PER_TOKEN), output_tokens: 0 },
  });
}

function answerOf(question: Json | undefined, set: Json | undefined, state: string, isWrong: boolean): JsonObject {
  const { type, criteria } = isJsonObject(question) ? question : {};
  const keys = keysOf(type, criteria);
  const weights = keys.map(({ key, name }) =>
    isJsonObject(set) ? weightIn(set, key) : 1 + Math.min(COUNT_MAX, countOf(name.toLowerCase(), state)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum <= 0) throw new Refusal(400, 'sandbox.answers: the weights of a question have no sum.');
  const share = weights.map((weight) => (isWrong ? WRONG_SUM : 1) * (weight / sum));
  const confidence = Math.max(...share);
  if (type === 'noul') return { type, noul: isWrong ? -1 : (share[0] ?? 0), confidence };
  const probabilities = Object.fromEntries(keys.map(({ key }, at) => [key, share[at] ?? 0]));
  if (type === 'score') {
    const score = share.reduce((total, probability, level) => total + probability * level, 0);
    const legend = Object.fromEntries(keys.map(({ key, name }) => [key, name]));
    return { type, score, legend, probabilities, confidence };
  }
  const likeliest = keys[share.indexOf(confidence)]?.key ?? '';
  return { type: 'choice', choice: likeliest, probabilities, confidence };
}

/** Levels are named by their numbers, from 0. */
function keysOf(
  type: Json | undefined,
  criteria: Json | undefined,
): readonly { readonly key: string; readonly name: string }[] {
  if (type === 'noul')
    return [
      { key: 'true', name: 'yes' },
      { key: 'false', name: 'no' },
    ];
  if (type === 'score' && Array.isArray(criteria))
    return criteria.map((text, level) => ({ key: String(level), name: typeof text === 'string' ? text : '' }));
  if (type === 'choice' && isJsonObject(criteria)) return Object.keys(criteria).map((key) => ({ key, name: key }));
  throw new Refusal(400, 'questions: a question is a choice, a score or a noul, with criteria.');
}

function weightIn(set: JsonObject, key: string): number {
  const weight = Object.hasOwn(set, key) ? set[key] : 0;
  return typeof weight === 'number' && weight >= 0 ? weight : 0;
}

function countOf(name: string, state: string): number {
  return name === '' ? 0 : state.split(name).length - 1;
}
