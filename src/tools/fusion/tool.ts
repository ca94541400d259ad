import { z } from 'zod';
import type { CacheBreakpoint } from '../../canonical/blocks.ts';
import {
  ANALYSIS_MODELS_MAX,
  FUSION_PRESET_DEFAULT,
  FUSION_PRESETS,
  TOOL_CALLS_MAX,
  TOOLS_MAX,
  type FusionPresetName,
} from '../../canonical/tools/fusion.ts';
import { EFFORTS, type ServerTool as RequestedTool } from '../../canonical/request.ts';
import { choosePanel, forPanel, type ChosenPanel } from '../../model-selection/fusion-panel.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { OpenTool, ServerTool, ToolCall, ToolContext, ToolOutcome } from '../contract.ts';
import { nestedToolsOf, inputOf } from '../inner-model.ts';
import { ANALYSIS_FORMAT, readVerdict } from './analyst.ts';
import { callModel, type ModelCall, type ModelInput } from './call-model.ts';
import { fitAnswers } from './fit-answers.ts';
import { allFailed, answersOf, formatStage, failed, isAnswer, recall, succeeded, uniqueSources } from './outcome.ts';
import { ANALYST_PROMPT, formatMaterial, PANELIST_PROMPT, TOOL_DESCRIPTION } from './prompts.ts';
import { analysisBegun, analysisEnded, panelistAdded, panelistEnded } from './progress.ts';
import { formatTranscript } from './transcript.ts';

const TYPE = 'service:fusion';
/** @spec fusion-6 */
const TOOL_CALLS_DEFAULT = 4;
const COMPLETION_TOKENS_DEFAULT = 16_000;
/** Where a model of unknown limits does not take that: what nearly every model writes. */
const PLAIN_TOKENS_DEFAULT = 4_000;
/** So long the slowest member is waited for: one that hangs must not take the others with it. */
const PANEL_MS_MAX = 300_000;
const ANALYST_MS_MAX = 180_000;
/** Both, with some room. */
const CALL_MS_MAX = 500_000;

const TOOLS_DEFAULT: readonly RequestedTool[] = [
  { type: 'server', name: 'service:web_search' },
  { type: 'server', name: 'service:web_fetch' },
];

const nestedTool = z.object({
  type: z
    .string()
    .regex(/^service:/, 'must be a server tool, such as "service:web_search"')
    .refine((type) => type !== TYPE, 'must not be a panel itself'),
  parameters: z.custom<JsonObject>(isJsonObject, 'must be an object').nullish(),
});

/** @spec fusion-2 */
const parameters = z.object({
  analysis_models: z.array(z.string().min(1)).min(1).max(ANALYSIS_MODELS_MAX).nullish(),
  /** The analyst. Absent: the preset's, else the model that answers. */
  model: z.string().min(1).nullish(),
  preset: z.enum(FUSION_PRESETS).nullish(),
  max_tool_calls: z.int().min(1).max(TOOL_CALLS_MAX).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  reasoning: z.object({ effort: z.enum(EFFORTS).nullish(), max_tokens: z.int().min(1).nullish() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  tools: z.array(nestedTool).max(TOOLS_MAX).nullish(),
  cache_control: z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() }).nullish(),
});
type Parameters = z.output<typeof parameters>;

/** The panel reads what the model reads: a rephrased question would lose some of it. */
const noArguments = z.object({});

/** Calls a panel of models, and an analyst that compares their answers. @spec fusion-6 */
export const fusion: ServerTool<typeof parameters, typeof noArguments> = {
  type: TYPE,
  summary: 'Has a panel of models answer a question.',
  parameters,
  callMsMax: CALL_MS_MAX,
  nestedTools: toolsOf,
  recall,
  describe: () => ({ description: TOOL_DESCRIPTION, arguments: noArguments }),
  open: openFusion,
};

function openFusion(requested: Parameters, context: ToolContext): OpenTool<object> {
  let isCalled = false;
  return {
    async run(call) {
      if (isCalled) return failed('fusion_invocation_capped', 'The panel is called once in a response.');
      isCalled = true;
      const { panel, analyst = context.model() } = peopleOf(requested, context);
      if (panel.length === 0)
        return failed('invalid_model', 'No model is available: name some in analysis_models, or configure a provider.');
      return runPanel(requested, context, call, { panel, analyst });
    },
  };
}

/** Models that are named count before those of the preset. @spec fusion-3 */
function peopleOf(requested: Parameters, context: ToolContext): ChosenPanel {
  const { analysis_models: named, model } = requested;
  const preset = requested.preset ?? undefined;
  const isComplete = isSet(named) && (isSet(model) || preset === undefined);
  const chosen = isComplete ? undefined : fromPreset(preset ?? FUSION_PRESET_DEFAULT, context);
  return {
    panel: named ?? chosen?.panel ?? [],
    analyst: model ?? (preset === undefined ? undefined : chosen?.analyst),
  };
}

function fromPreset(name: FusionPresetName, { choice, request }: ToolContext): ChosenPanel | undefined {
  if (choice === undefined) return undefined;
  const pool = { ...choice.candidatePool(forPanel(request)), resolve: (slug: string) => choice.resolve(slug) };
  return choosePanel(name, choice.settings.fusion[name], pool);
}

async function runPanel(
  requested: Parameters,
  context: ToolContext,
  { turns, generate, signal, report }: ToolCall<object>,
  { panel, analyst }: { readonly panel: readonly string[]; readonly analyst: string },
): Promise<ToolOutcome> {
  const { monotonicMs, note, budgetNanoUsd } = context;
  const asking: ModelCall = { generate, monotonicMs, signal };
  const startedMs = monotonicMs();
  const text = formatTranscript(turns);
  const common = commonInput(requested, shareOf(budgetNanoUsd(), panel.length));
  const member = { ...common, instructions: PANELIST_PROMPT, text };
  const members = await Promise.all(
    panel.map(async (model) => {
      report?.(panelistAdded(model));
      const reply = await callModel({ ...member, model }, asking, PANEL_MS_MAX);
      for (const progress of panelistEnded(model, reply)) report?.(progress);
      return reply;
    }),
  );
  const answered = members.filter(isAnswer);
  if (answered.length === 0) {
    note(formatStage(monotonicMs() - startedMs, members));
    return allFailed(members, signal);
  }
  const answers = answersOf(answered);
  const { temperature: _ofPanel, ...settings } = common.settings;
  report?.(analysisBegun(analyst));
  const reply = await callModel(
    {
      ...common,
      model: analyst,
      instructions: ANALYST_PROMPT,
      text: formatMaterial(
        text,
        fitAnswers(answers, () => contextTokensOf(analyst, context)),
      ),
      settings: { ...settings, temperature: 0, responseFormat: ANALYSIS_FORMAT },
    },
    asking,
    ANALYST_MS_MAX,
  );
  const verdict = readVerdict(reply);
  if ('analysis' in verdict) report?.(analysisEnded(verdict.analysis));
  note(formatStage(monotonicMs() - startedMs, members, { reply, verdict }));
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
  return choice?.candidatePool(forPanel(request)).models.find((one) => one.slug === slug)?.contextTokensMax;
}

/** Of what is left every one may take the same, and the final answer, too. */
function shareOf(leftNanoUsd: number | undefined, members: number): number | undefined {
  return leftNanoUsd === undefined ? undefined : Math.floor(leftNanoUsd / (members + 2));
}

type CommonInput = Omit<ModelInput, 'model' | 'instructions' | 'text'>;

function commonInput(requested: Parameters, budgetNanoUsd: number | undefined): CommonInput {
  const { cache_control: mark } = requested;
  const cache: CacheBreakpoint | undefined = isSet(mark)
    ? { kind: 'ephemeral', ...(isSet(mark.ttl) && { ttl: mark.ttl }) }
    : undefined;
  const { settings = {} } = inputOf({
    ...requested,
    max_completion_tokens: requested.max_completion_tokens ?? COMPLETION_TOKENS_DEFAULT,
  });
  return {
    settings,
    plainTokensMax: requested.max_completion_tokens ?? PLAIN_TOKENS_DEFAULT,
    tools: toolsOf(requested),
    toolCallsMax: requested.max_tool_calls ?? TOOL_CALLS_DEFAULT,
    ...(cache !== undefined && { cache }),
    ...(budgetNanoUsd !== undefined && { budgetNanoUsd }),
  };
}

function toolsOf({ tools }: Parameters): readonly RequestedTool[] {
  return isSet(tools) ? nestedToolsOf({ tools }) : TOOLS_DEFAULT;
}

function isSet<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}
