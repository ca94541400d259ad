import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { NestedResponse } from '../../canonical/tools/nested-generation.ts';
import type { Turn } from '../../canonical/request.ts';
import { joinResponseText } from '../../canonical/text-gap.ts';
import {
  failedOutcome,
  type OpenTool,
  type ServerTool,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
} from '../contract.ts';
import {
  checkNestedModels,
  createCallCount,
  functionOf,
  NESTED_MODEL_SHAPE,
  nestedToolsOf,
  inputOf,
} from '../inner-model.ts';
import { charsOf, earlierAdvice, middleOut, type Advice } from './memory.ts';
import { asTranscript } from './transcript.ts';

const TYPE = 'service:advisor';
/** @spec tool-38 */
const CALLS_MAX = 10;
/** A model that thinks for long is what advisors are for. */
const CALL_MS_MAX = 300_000;
const PROMPT_CHARS_MAX = 200_000;
/** Of what an advisor remembers. Where it is too much for its model, a quarter of that, and so on. */
const MEMORY_CHARS_MAX = 400_000;
const SHRINKS_TO = 1 / 4;

const parameters = z.strictObject({
  ...NESTED_MODEL_SHAPE,
  forward_transcript: z.boolean().nullish(),
  /** Of another interface; here the advice is a result, which comes as a whole. */
  stream: z.boolean().nullish(),
});
type Parameters = z.output<typeof parameters>;

const prompt = z
  .string()
  .min(1)
  .max(PROMPT_CHARS_MAX)
  .describe('What you want advice on, with everything that one must know for it.');
const question = z.string().max(PROMPT_CHARS_MAX).optional();
const forwarded = question.describe('What you want advice on. The advisor reads the whole conversation anyway.');
const model = z.string().min(1).optional().describe('The slug of the model to ask, such as "author/name".');

const WITH_PROMPT = z.object({ prompt });
const WITH_PROMPT_AND_MODEL = z.object({ prompt, model });
const FORWARDED = z.object({ prompt: forwarded });
const FORWARDED_WITH_MODEL = z.object({ prompt: forwarded, model });

/** The vendor's own, of which only `model` counts. @spec messages-20 */
const VENDOR_TYPE = /^advisor_\d{8}$/;

const mayRun = createCallCount(CALLS_MAX);

/** Gets advice from another, usually better model, which remembers its own advice. @spec tool-34, tool-35 */
export const advisor: ServerTool<typeof parameters> = {
  type: TYPE,
  summary: 'Asks a second model for advice in the middle of a response.',
  parameters,
  callMsMax: CALL_MS_MAX,
  mayRepeat: true,
  readNativeTool: ({ type, model: requested }) =>
    typeof type === 'string' && VENDOR_TYPE.test(type)
      ? { ...(typeof requested === 'string' && { model: requested }) }
      : undefined,
  checkTogether: (entries) => checkNestedModels(TYPE, entries),
  nestedTools: nestedToolsOf,
  describe: (requested) => ({ description: describe(requested), arguments: argumentsOf(requested) }),
  open: (requested, context) => openAdvisor(requested, context),
};

function describe({ name, forward_transcript: forwards }: Parameters): string {
  const who = name === undefined || name === null ? 'an advisor' : `the advisor "${name}"`;
  const reads =
    forwards === true
      ? 'It reads the whole conversation.'
      : 'It reads nothing but what you write to it, and remembers what you wrote to it before.';
  return `Asks ${who}, another model, for advice. ${reads} Decide for yourself what to make of the advice.`;
}

function argumentsOf({ forward_transcript: forwards, model: fixed }: Parameters): z.ZodObject {
  const isFixed = fixed !== undefined && fixed !== null;
  if (forwards === true) return isFixed ? FORWARDED : FORWARDED_WITH_MODEL;
  return isFixed ? WITH_PROMPT : WITH_PROMPT_AND_MODEL;
}

function openAdvisor(requested: Parameters, context: ToolContext): OpenTool<Readonly<Record<string, unknown>>> {
  const name = functionOf(TYPE, context);
  return {
    async run(call) {
      if (!mayRun(context.request))
        return failedOutcome(`Advisors are called at most ${CALLS_MAX} times for one response.`, 'max_uses_exceeded');
      const answered = await ask(requested, context, call, name);
      const { text: advice } = joinResponseText(answered.response.format, answered.response.blocks);
      return advice === '' ? failedOutcome('The advisor gave no response.') : adviceOf(answered, advice);
    },
  };
}

function adviceOf({ model: slug }: NestedResponse, advice: string): ToolOutcome {
  return { result: { status: 'ok', model: slug, advice } };
}

/** @throws GatewayError what the generation inside is refused with */
async function ask(
  requested: Parameters,
  { model: parent }: ToolContext,
  { input, turns, generate, signal }: ToolCall<Readonly<Record<string, unknown>>>,
  name: string,
): Promise<NestedResponse> {
  const prompted = typeof input['prompt'] === 'string' ? input['prompt'] : '';
  const called = typeof input['model'] === 'string' ? input['model'] : undefined;
  const forwards = requested.forward_transcript === true;
  let memory = forwards ? [] : middleOut(earlierAdvice(turns, name), MEMORY_CHARS_MAX);
  for (;;) {
    const conversation = forwards ? asTranscript(turns) : memory.flatMap(asTurns);
    const settings = {
      ...inputOf(requested),
      models: [requested.model ?? called ?? parent()],
      turns: [...instructionsOf(requested), ...conversation, userTurn(prompted === '' ? GO_ON : prompted)],
      withoutTools: [TYPE],
    };
    try {
      return await generate(settings, signal);
    } catch (error) {
      if (memory.length === 0 || !(error instanceof GatewayError) || error.type !== 'context_length_exceeded')
        throw error;
      memory = middleOut(memory, Math.floor(charsOf(memory) * SHRINKS_TO));
    }
  }
}

const GO_ON = 'What do you advise?';

function instructionsOf({ instructions }: Parameters): readonly Turn[] {
  if (instructions === undefined || instructions === null || instructions === '') return [];
  return [{ role: 'system', blocks: [{ type: 'text', text: instructions }], plain: true }];
}

function asTurns({ prompt: requested, advice }: Advice): readonly Turn[] {
  return [userTurn(requested), { role: 'assistant', blocks: [{ type: 'text', text: advice }], plain: true }];
}

function userTurn(text: string): Turn {
  return { role: 'user', blocks: [{ type: 'text', text }], plain: true };
}
