import type { Effort, ReasoningSettings, GenerationRequest } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { budgetOfEffort, effortOf, nearestEffort } from '../../gateway/efforts.ts';
import type { ChatDialect } from '../dialect.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import type { EncodeContext } from './encode-context.ts';

type Spelling = NonNullable<ChatDialect['reasoningSettings']>;
type Switch = Exclude<Spelling, 'reasoning' | 'none' | 'reasoning_effort'>;

/** The members of the body that switch reasoning, as the upstream's dialect names them. @spec reasoning-13 */
export function encodeReasoningSettings(
  settings: ReasoningSettings,
  context: EncodeContext,
  outputTokensMax: number | undefined,
): JsonObject {
  const { dialect, maxOutputTokens } = context.target;
  const { reasoningSettings: spelling = 'reasoning_effort' } = dialect;
  if (spelling === 'reasoning') return { reasoning: encodeObject(settings) };
  const tokens = outputTokensMax ?? maxOutputTokens;
  const effort = effortOf(settings, tokens);
  if (effort === undefined) return {};
  if (spelling === 'none') {
    // A model that cannot think needs no switch.
    return effort === 'none' ? {} : dropped(context, 'the model does not reason, or not on request');
  }
  if (effort === 'none') return encodeOff(spelling, context);
  if (spelling === 'reasoning_effort') return encodeEffort(effort, context);
  return {
    ...SWITCHES[spelling](true),
    ...(dialect.reasoningEfforts !== undefined && hasMeasure(settings) && encodeEffort(effort, context)),
    ...encodeBudget(settings, dialect, tokens),
  };
}

function dropped(context: EncodeContext, why: string): JsonObject {
  context.warn('field-dropped', 'reasoning', why);
  return {};
}

function encodeObject(settings: ReasoningSettings): JsonObject {
  const { effort, maxTokens, enabled, adaptive, summary, exclude, mode, context } = settings;
  const isEnabled = enabled ?? (adaptive && effort === undefined ? true : undefined);
  const own: JsonObject = {
    ...(effort !== undefined && { effort }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(isEnabled !== undefined && { enabled: isEnabled }),
    ...(summary !== undefined && { summary }),
    ...(exclude !== undefined && { exclude }),
    ...(mode !== undefined && { mode }),
    ...(context !== undefined && { context }),
  };
  return withExtra(own, fieldsOf(settings, 'chat'));
}

/** Sent to every model that has a switch: whether the model would think by default is unknown. */
function encodeOff(spelling: 'reasoning_effort' | Switch, context: EncodeContext): JsonObject {
  const { mustReason, reasoningEfforts } = context.target.dialect;
  if (mustReason === true) return dropped(context, 'the model has no setting that turns reasoning off');
  if (spelling !== 'reasoning_effort') return SWITCHES[spelling](false);
  if (reasoningEfforts?.includes('none') === false)
    return dropped(context, 'the model has no setting that turns reasoning off');
  return { reasoning_effort: 'none' };
}

const SWITCHES: Readonly<Record<Switch, (on: boolean) => JsonObject>> = {
  thinking: (on) => ({ thinking: { type: on ? 'enabled' : 'disabled' } }),
  'thinking.adaptive': (on) => ({ thinking: { type: on ? 'adaptive' : 'disabled' } }),
  enable_thinking: (on) => ({ enable_thinking: on }),
  'reasoning.enabled': (on) => ({ reasoning: { enabled: on } }),
  chat_template_kwargs: (on) => ({ chat_template_kwargs: { enable_thinking: on } }),
};

/** Whether the request sets an amount: a model that is merely switched on knows best. */
function hasMeasure({ effort, maxTokens }: ReasoningSettings): boolean {
  return effort !== undefined || maxTokens !== undefined;
}

/** @spec reasoning-3 */
function encodeEffort(requested: Effort, context: EncodeContext): JsonObject {
  const { reasoningEfforts: known } = context.target.dialect;
  const nearest = known === undefined ? requested : nearestEffort(requested, known);
  if (nearest === undefined) return dropped(context, 'the model knows no efforts');
  if (nearest !== requested)
    context.warn('field-changed', 'reasoning', `the model knows no effort ${requested}: it gets ${nearest}`);
  return { reasoning_effort: nearest };
}

/** A requested budget is sent as it is; an effort becomes one where the limit of the response is known. */
function encodeBudget(
  { effort, maxTokens }: ReasoningSettings,
  { reasoningBudget }: ChatDialect,
  outputTokensMax: number | undefined,
): JsonObject {
  if (reasoningBudget === undefined) return {};
  if (maxTokens !== undefined) return { [reasoningBudget]: maxTokens };
  if (effort === undefined || effort === 'none' || outputTokensMax === undefined) return {};
  return { [reasoningBudget]: budgetOfEffort(effort, outputTokensMax) };
}

/**
 * The request as hosts take it that refuse to be forced to call a tool while they reason, as Claude does: they do not
 * reason then, and what cannot be kept from it chooses itself. @spec reasoning-11
 */
export function withoutForcedReasoning(request: GenerationRequest, context: EncodeContext): GenerationRequest {
  const { dialect, supportedParameters: listed } = context.target;
  const { settings, tools } = request;
  const { toolChoice, reasoning = {} } = settings;
  const forced = tools.length > 0 && (toolChoice?.type === 'required' || toolChoice?.type === 'function');
  if (!forced || dialect.unforcedReasoning !== true) return request;
  if (dialect.mustReason === true) {
    context.warn(
      'field-changed',
      'tool_choice',
      'the model always reasons, and cannot be forced to call a tool meanwhile',
    );
    return { ...request, settings: { ...settings, toolChoice: { type: 'auto' } } };
  }
  if (listed !== undefined && !supportsParameter(listed, 'reasoning')) return request;
  const requested = effortOf(reasoning, settings.maxTokens);
  if (requested !== undefined && requested !== 'none')
    context.warn('field-dropped', 'reasoning', 'the model cannot reason when it is forced to call a tool');
  return { ...request, settings: { ...settings, reasoning: { enabled: false } } };
}
