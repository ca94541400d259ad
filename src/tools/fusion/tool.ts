import { z } from 'zod';
import type { CacheMark } from '../../canonical/blocks.ts';
import {
  ANALYSIS_MODELS_MAX,
  FUSION_PRESET_DEFAULT,
  FUSION_PRESETS,
  TOOL_CALLS_MAX,
  TOOLS_MAX,
  type FusionPresetName,
} from '../../canonical/fusion.ts';
import { EFFORTS, type ServerTool as AskedTool } from '../../canonical/request.ts';
import { choosePanel, forPanel, type ChosenPanel } from '../../choosing/fusion-panel.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { OpenTool, ServerTool, ToolCall, ToolContext, ToolOutcome } from '../contract.ts';
import { innerToolsOf, questionOf } from '../inner-model.ts';
import { ANALYSIS_FORMAT, readVerdict } from './analyst.ts';
import { askModel, type Asking, type ModelQuestion } from './ask-model.ts';
import { fitAnswers } from './fit-answers.ts';
import { allFailed, answersOf, drawStage, failed, isAnswer, recall, succeeded, uniqueSources } from './outcome.ts';
import { ANALYST_PROMPT, drawMaterial, PANELIST_PROMPT, TOOL_DESCRIPTION } from './prompts.ts';
import { drawTranscript } from './transcript.ts';

const TYPE = 'service:fusion';
/** generation.md 5.8. */
const TOOL_CALLS_DEFAULT = 4;
const COMPLETION_TOKENS_DEFAULT = 16_000;
/** Where a model of unknown limits does not take that: what nearly every model writes. */
const PLAIN_TOKENS_DEFAULT = 4_000;
/** So long the slowest member is waited for: one that hangs must not take the others with it. */
const PANEL_MS_MAX = 300_000;
const ANALYST_MS_MAX = 180_000;
/** Both, with some room. */
const CALL_MS_MAX = 500_000;

const TOOLS_DEFAULT: readonly AskedTool[] = [
  { type: 'server', name: 'service:web_search' },
  { type: 'server', name: 'service:web_fetch' },
];

const innerTool = z.object({
  type: z
    .string()
    .regex(/^service:/, 'must be a server tool, such as "service:web_search"')
    .refine((type) => type !== TYPE, 'must not be a panel itself'),
  parameters: z.custom<JsonObject>(isJsonObject, 'must be an object').nullish(),
});

/** @source seed 2.2 "Fusion rules", generation.md 5.8 */
const parameters = z.object({
  analysis_models: z.array(z.string().min(1)).min(1).max(ANALYSIS_MODELS_MAX).nullish(),
  /** The analyst. Absent: the preset's, else the model that answers. */
  model: z.string().min(1).nullish(),
  preset: z.enum(FUSION_PRESETS).nullish(),
  max_tool_calls: z.int().min(1).max(TOOL_CALLS_MAX).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  reasoning: z.object({ effort: z.enum(EFFORTS).nullish(), max_tokens: z.int().min(1).nullish() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  tools: z.array(innerTool).max(TOOLS_MAX).nullish(),
  cache_control: z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() }).nullish(),
});
type Parameters = z.output<typeof parameters>;

/** The panel reads what the model reads: whoever puts a question in other words loses some of it. */
const noArguments = z.object({});

/** Asks a panel of models, and lets an analyst compare what they say. @source generation.md 5.8 */
export const fusion: ServerTool<typeof parameters, typeof noArguments> = {
  type: TYPE,
  parameters,
  callMsMax: CALL_MS_MAX,
  innerTools: toolsOf,
  recall,
  describe: () => ({ description: TOOL_DESCRIPTION, arguments: noArguments }),
  open: openFusion,
};

function openFusion(asked: Parameters, context: ToolContext): OpenTool<object> {
  let isCalled = false;
  return {
    async run(call) {
      if (isCalled) return failed('fusion_invocation_capped', 'The panel is asked once in an answer.');
      isCalled = true;
      const { panel, analyst = context.model() } = peopleOf(asked, context);
      if (panel.length === 0)
        return failed('invalid_model', 'No model can be asked: name some in analysis_models, or configure a provider.');
      return runPanel(asked, context, call, { panel, analyst });
    },
  };
}

/** Models that are named count before those of the preset. @source seed 2.2 "preset" */
function peopleOf(asked: Parameters, context: ToolContext): ChosenPanel {
  const { analysis_models: named, model } = asked;
  const preset = asked.preset ?? undefined;
  const isComplete = isSet(named) && (isSet(model) || preset === undefined);
  const chosen = isComplete ? undefined : fromPreset(preset ?? FUSION_PRESET_DEFAULT, context);
  return {
    panel: named ?? chosen?.panel ?? [],
    analyst: model ?? (preset === undefined ? undefined : chosen?.analyst),
  };
}

function fromPreset(name: FusionPresetName, { choice, request }: ToolContext): ChosenPanel | undefined {
  if (choice === undefined) return undefined;
  const field = { ...choice.field(forPanel(request)), resolve: (slug: string) => choice.resolve(slug) };
  return choosePanel(name, choice.settings.fusion[name], field);
}

async function runPanel(
  asked: Parameters,
  context: ToolContext,
  { turns, signal }: ToolCall<object>,
  { panel, analyst }: { readonly panel: readonly string[]; readonly analyst: string },
): Promise<ToolOutcome> {
  const { generate, monotonicMs, note, budgetNanoUsd } = context;
  const asking: Asking = { generate, monotonicMs, signal };
  const startedMs = monotonicMs();
  const text = drawTranscript(turns);
  const common = commonQuestion(asked, shareOf(budgetNanoUsd(), panel.length));
  const member = { ...common, instructions: PANELIST_PROMPT, text };
  const members = await Promise.all(panel.map((model) => askModel({ ...member, model }, asking, PANEL_MS_MAX)));
  const answered = members.filter(isAnswer);
  if (answered.length === 0) {
    note(drawStage(monotonicMs() - startedMs, members));
    return allFailed(members, signal);
  }
  const answers = answersOf(answered);
  const { temperature: _ofPanel, ...settings } = common.settings;
  const reply = await askModel(
    {
      ...common,
      model: analyst,
      instructions: ANALYST_PROMPT,
      text: drawMaterial(
        text,
        fitAnswers(answers, () => contextTokensOf(analyst, context)),
      ),
      settings: { ...settings, temperature: 0, responseFormat: ANALYSIS_FORMAT },
    },
    asking,
    ANALYST_MS_MAX,
  );
  const verdict = readVerdict(reply);
  note(drawStage(monotonicMs() - startedMs, members, { reply, verdict }));
  return succeeded({
    answers,
    readable: fitAnswers(answers, () => contextTokensOf(context.model(), context)),
    sources: uniqueSources(answered),
    lost: members.filter((one) => !isAnswer(one)),
    verdict,
  });
}

function contextTokensOf(model: string, { choice, request }: ToolContext): number | undefined {
  const slug = choice?.resolve(model);
  return choice?.field(forPanel(request)).models.find((one) => one.slug === slug)?.contextTokensMax;
}

/** Of what is left every one may take the same, and the final answer, too. */
function shareOf(leftNanoUsd: number | undefined, members: number): number | undefined {
  return leftNanoUsd === undefined ? undefined : Math.floor(leftNanoUsd / (members + 2));
}

type CommonQuestion = Omit<ModelQuestion, 'model' | 'instructions' | 'text'>;

function commonQuestion(asked: Parameters, budgetNanoUsd: number | undefined): CommonQuestion {
  const { cache_control: mark } = asked;
  const cache: CacheMark | undefined = isSet(mark)
    ? { kind: 'ephemeral', ...(isSet(mark.ttl) && { ttl: mark.ttl }) }
    : undefined;
  const { settings = {} } = questionOf({
    ...asked,
    max_completion_tokens: asked.max_completion_tokens ?? COMPLETION_TOKENS_DEFAULT,
  });
  return {
    settings,
    plainTokensMax: asked.max_completion_tokens ?? PLAIN_TOKENS_DEFAULT,
    tools: toolsOf(asked),
    toolCallsMax: asked.max_tool_calls ?? TOOL_CALLS_DEFAULT,
    ...(cache !== undefined && { cache }),
    ...(budgetNanoUsd !== undefined && { budgetNanoUsd }),
  };
}

function toolsOf({ tools }: Parameters): readonly AskedTool[] {
  return isSet(tools) ? innerToolsOf({ tools }) : TOOLS_DEFAULT;
}

function isSet<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}
