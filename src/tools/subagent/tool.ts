import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Turn } from '../../canonical/request.ts';
import { joinAnswerText } from '../../canonical/text-gap.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { OpenTool, ServerTool, ToolContext, ToolOutcome } from '../contract.ts';
import { checkInnerModels, createCallCount, INNER_MODEL_SHAPE, innerToolsOf, questionOf } from '../inner-model.ts';

const TYPE = 'service:subagent';
/** generation.md 5.9 "cap per request". */
const CALLS_MAX = 25;
/** A task of several turns with tools takes its time. */
const CALL_MS_MAX = 600_000;
const NAME_CHARS_MAX = 200;
const TASK_CHARS_MAX = 200_000;

/** Functions of the caller's run at the caller's, who is not asked here. */
const notHere = z.undefined({ error: 'is for the responses interface alone' }).optional();

const parameters = z.strictObject({
  ...INNER_MODEL_SHAPE,
  inherit_functions: notHere,
  inherited_function_names: notHere,
});
type Parameters = z.output<typeof parameters>;

const task = z.object({
  task_name: z.string().min(1).max(NAME_CHARS_MAX).describe('A few words that tell the task from others.'),
  task_description: z
    .string()
    .min(1)
    .max(TASK_CHARS_MAX)
    .describe('The whole task, with everything that one must know for it. Nothing else is read.'),
});
type Task = z.output<typeof task>;

const mayRun = createCallCount(CALLS_MAX);

/** Has another model do a part of the work, apart from the conversation. @source generation.md 5.9 */
export const subagent: ServerTool<typeof parameters, typeof task> = {
  type: TYPE,
  parameters,
  callMsMax: CALL_MS_MAX,
  mayRepeat: true,
  checkTogether: (entries) => checkInnerModels(TYPE, entries),
  innerTools: innerToolsOf,
  describe: ({ name }) => ({
    description:
      `Hands a task to ${name === undefined || name === null ? 'another model' : `the agent "${name}"`}, which works on it by ` +
      'itself and gives what came of it. It sees nothing of this conversation and remembers nothing. Tasks that do not wait ' +
      'for each other can be handed out at once.',
    arguments: task,
  }),
  open: (asked, context) => openSubagent(asked, context),
};

function openSubagent(asked: Parameters, { request, model, generate }: ToolContext): OpenTool<Task> {
  return {
    async run({ input, signal }) {
      const failed = (error: string): ToolOutcome => failedTask(input, error);
      if (!mayRun(request)) return failed(`At most ${CALLS_MAX} tasks are handed out for one answer.`);
      try {
        const wish = { models: [asked.model ?? model()], turns: turnsOf(asked, input), withoutTools: [TYPE] };
        const answered = await generate({ ...questionOf(asked), ...wish }, signal);
        const { text: outcome } = joinAnswerText(answered.answer.format, answered.answer.blocks);
        if (outcome === '') return failed('The agent gave no answer.');
        return { result: { status: 'ok', model: answered.model, task_name: input.task_name, outcome } };
      } catch (error) {
        if (error instanceof GatewayError) return failed(error.message);
        throw error;
      }
    },
  };
}

function failedTask({ task_name }: Task, error: string): ToolOutcome {
  const result: JsonObject = { status: 'error', task_name, error };
  return { result, failed: true };
}

function turnsOf({ instructions }: Parameters, { task_description: text }: Task): readonly Turn[] {
  const turn: Turn = { role: 'user', blocks: [{ type: 'text', text }], plain: true };
  if (instructions === undefined || instructions === null || instructions === '') return [turn];
  return [{ role: 'system', blocks: [{ type: 'text', text: instructions }], plain: true }, turn];
}
