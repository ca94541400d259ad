import type { Decide, DecisionQuestion } from '../../canonical/decisions.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { TaskClass } from './classify-task.ts';
import { isTaskTag, TASK_TAGS, type TaskTag } from './task-tags.ts';

/** Above this confidence no judge is called. */
const DOUBT_BELOW = 0.25;
const EXCERPT_CHARS_MAX = 4_000;
/** Every request that is doubtful waits for it. */
const WAIT_MS_MAX = 2_000;
const MILLION = 1_000_000;

export interface JudgeInput {
  readonly decide: Decide;
  /** Slugs, first choice first. */
  readonly models: readonly string[];
  readonly timeoutMs: number;
  /** What is less likely is no verdict. From 0 to 1. */
  readonly threshold: number;
  readonly signal: AbortSignal;
}

/** Whether the keywords are so inconclusive that a judge is worth its cost. */
export function isDoubtful({ source, confidence }: TaskClass): boolean {
  return source !== 'structure' && confidence < DOUBT_BELOW;
}

/** What a model takes a request for. */
export interface TaskVerdict {
  readonly tag: TaskTag;
  /** The model that said so, and what that cost the caller. */
  readonly model: string;
  readonly costNanoUsd: number;
}

const QUESTION: DecisionQuestion = {
  id: 'task',
  type: 'choice',
  instructions: 'What is the message about? Choose the tag that fits best.',
  options: TASK_TAGS.map((key) => ({ key })),
};

/** A judge's classification; `undefined` if it fails for any reason, or is in doubt itself: the request must not fail because of it. */
export async function judgeTask(
  request: GenerationRequest,
  { decide, models, timeoutMs, threshold, signal }: JudgeInput,
): Promise<TaskVerdict | undefined> {
  try {
    const options = { models, timeoutMs: Math.min(timeoutMs, WAIT_MS_MAX), signal };
    const { verdicts, model, costNanoUsd } = await decide(excerptOf(request.turns), [QUESTION], options);
    const millionths = verdicts[0]?.millionths ?? [];
    const most = Math.max(...millionths);
    const tag = QUESTION.options[millionths.indexOf(most)]?.key ?? '';
    return most >= threshold * MILLION && isTaskTag(tag) ? { tag, model, costNanoUsd } : undefined;
  } catch {
    // Without a verdict the words' own stands.
    return undefined;
  }
}

function excerptOf(turns: readonly Turn[]): string {
  const turn = turns.findLast(({ role, blocks }) => role === 'user' && blocks.some(({ type }) => type === 'text'));
  const text = (turn?.blocks ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return text.slice(0, EXCERPT_CHARS_MAX);
}
