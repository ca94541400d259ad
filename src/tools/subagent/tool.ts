import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Turn } from '../../canonical/request.ts';
import { joinResponseText } from '../../canonical/text-gap.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { OpenTool, ServerTool, ToolContext, ToolOutcome } from '../contract.ts';
import { checkNestedModels, createCallCount, NESTED_MODEL_SHAPE, nestedToolsOf, inputOf } from '../inner-model.ts';

const TYPE = 'service:subagent';
/** @spec tool-38 */
const CALLS_MAX = 25;
/** A task of several turns with tools takes its time. */
const CALL_MS_MAX = 600_000;
const NAME_CHARS_MAX = 200;
const TASK_CHARS_MAX = 200_000;

/** Functions of the caller would run at the caller, which a subagent cannot call. */
const notHere = z
  .undefined({ error: 'is not supported by this version of the gateway: a subagent has server tools alone' })
  .optional();

const parameters = z.strictObject({
  ...NESTED_MODEL_SHAPE,
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

/** Has another model do a part of the work, apart from the conversation. @spec tool-36 */
export const subagent: ServerTool<typeof parameters, typeof task> = {
  type: TYPE,
  summary: 'Gives a task to another model with tools of its own.',
  parameters,
  callMsMax: CALL_MS_MAX,
  mayRepeat: true,
  checkTogether: (entries) => checkNestedModels(TYPE, entries),
  nestedTools: nestedToolsOf,
  describe: ({ name }) => ({
    description:
      `Hands a task to ${name === undefined || name === null ? 'another model' : `the agent "${name}"`}, which works on it by ` +
      'itself and gives what came of it. It sees nothing of this conversation and remembers nothing. Tasks that do not wait ' +
      'for each other can be handed out at once.',
    arguments: task,
  }),
  open: (requested, context) => openSubagent(requested, context),
};

function openSubagent(requested: Parameters, { request, model }: ToolContext): OpenTool<Task> {
  return {
    async run({ input, generate, signal }) {
      const failed = (error: string): ToolOutcome => failedTask(input, error);
      if (!mayRun(request)) return failed(`At most ${CALLS_MAX} tasks are handed out for one response.`);
      try {
        const settings = {
          models: [requested.model ?? model()],
          turns: turnsOf(requested, input),
          withoutTools: [TYPE],
        };
        const answered = await generate({ ...inputOf(requested), ...settings }, signal);
        const { text: outcome } = joinResponseText(answered.response.format, answered.response.blocks);
        if (outcome === '') return failed('The agent gave no response.');
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
