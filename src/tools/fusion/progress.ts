import type { ToolProgress } from '../../canonical/tools/server-call.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Reply } from './call-model.ts';
import { answerOf, isAnswer, lossOf } from './outcome.ts';

/** What callers that watch a panel see of it. Each model has the name that the request or the preset gave it. */
export function panelistAdded(model: string): ToolProgress {
  return { step: 'panel.added', fields: { model } };
}

/** A member answers as a whole: its texts come in one piece each. */
export function panelistEnded(model: string, reply: Reply): readonly ToolProgress[] {
  if (!isAnswer(reply)) return [{ step: 'panel.failed', fields: { model, ...lossOf(reply) } }];
  const content = answerOf(reply);
  const { reasoning } = reply;
  return [
    ...(reasoning === '' ? [] : [{ step: 'panel.reasoning.delta', fields: { model, delta: reasoning } }]),
    { step: 'panel.delta', fields: { model, delta: content } },
    { step: 'panel.completed', fields: { model, content } },
  ];
}

/** `judge_model` is an older name of the same. */
export function analysisBegun(analyst: string): ToolProgress {
  return { step: 'analysis.in_progress', fields: { analyst_model: analyst, judge_model: analyst } };
}

export function analysisEnded(analysis: JsonObject): ToolProgress {
  return { step: 'analysis.completed', fields: { analysis } };
}
