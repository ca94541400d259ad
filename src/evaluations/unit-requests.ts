import type { Principal } from '../accounts/principal.ts';
import type { DecisionQuestion } from '../canonical/decisions.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { parseJsonObject, type JsonObject } from '../lib/json.ts';
import type { EvaluatedModel, RunSettings } from '../resources/evaluations.ts';
import type { DatasetItem } from './dataset/item.ts';
import type { EvaluationDeps } from './deps.ts';

/** The members of a request that an item has: nothing else of it travels. */
export function bodyOf(item: DatasetItem, model: EvaluatedModel, maxTokens: number): JsonObject {
  const { prompt, messages, tools, response_format, temperature, max_tokens: own } = item;
  const body = {
    ...model,
    messages: messages ?? [{ role: 'user', content: prompt }],
    ...(tools !== undefined && { tools }),
    ...(response_format !== undefined && { response_format }),
    ...(temperature !== undefined && { temperature }),
    max_completion_tokens: own ?? maxTokens,
  };
  // Values that came through a validator, as plain JSON again.
  return parseJsonObject(JSON.stringify(body)) ?? {};
}

/** The request of one answer. It belongs to no session, and is answered by the model whatever was answered before. */
export async function requestOf(
  { decode }: Pick<EvaluationDeps, 'decode'>,
  {
    item,
    model,
    settings,
  }: { readonly item: DatasetItem; readonly model: EvaluatedModel; readonly settings: RunSettings },
  principal: Pick<Principal, 'workspaceId'>,
): Promise<GenerationRequest> {
  const request = await decode(bodyOf(item, model, settings.max_tokens), principal, settings.cache);
  const { sessionId: _session, responseCache, ...directives } = request.directives;
  return {
    ...request,
    delivery: 'whole',
    directives: { ...directives, ...(settings.cache && responseCache !== undefined && { responseCache }) },
  };
}

/** What a judge reads: the item and the answer, and not which model gave it. */
export function judgedState({ prompt, messages, expected }: DatasetItem, answer: string): string {
  return JSON.stringify({ question: messages ?? prompt, ...(expected !== undefined && { expected }), answer });
}

/** How good an answer is, by the rubric, as levels from low to high. */
export function judgeQuestion({ rubric, scale }: NonNullable<RunSettings['judge']>): DecisionQuestion {
  const options = Array.from({ length: scale }, (_, at) => ({ key: `${at + 1}`, text: levelText(at, scale) }));
  return {
    id: 'quality',
    type: 'score',
    instructions: `How well does the member "answer" meet this rubric? Where "expected" is there, it is a right answer.\n\n${rubric}`,
    options,
  };
}

/** What a judge compares: the item and two answers, the one in question at the place that is given. */
export function pairState({ prompt, messages, expected }: DatasetItem, answers: readonly [string, string]): string {
  const [first, second] = answers;
  const known = { question: messages ?? prompt, ...(expected !== undefined && { expected }) };
  return JSON.stringify({ ...known, answer_1: first, answer_2: second });
}

/** Which of two answers is the better one, by the rubric. */
export function pairQuestion({ rubric }: Pick<NonNullable<RunSettings['judge']>, 'rubric'>): DecisionQuestion {
  return {
    id: 'better',
    type: 'choice',
    instructions: `Which of the members "answer_1" and "answer_2" meets this rubric better? Where "expected" is there, it is a right answer.\n\n${rubric}`,
    options: [
      { key: 'answer_1' },
      { key: 'answer_2' },
      { key: 'neither', text: 'they are equally good, or equally bad' },
    ],
  };
}

function levelText(at: number, scale: number): string {
  if (at === 0) return 'does not meet the rubric at all';
  if (at === scale - 1) return 'meets the rubric in full';
  return `meets about ${Math.round((100 * at) / (scale - 1))} % of the rubric`;
}
