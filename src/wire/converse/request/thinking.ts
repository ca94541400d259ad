import type { Effort, GenerationRequest, ReasoningSettings, Settings } from '../../../canonical/request.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { LimitTarget } from '../../format.ts';
import { effortOf, nearestEffort } from '../../gateway/efforts.ts';
import { encodeForeignThinking, foreignLimit, type ThinkingPlan } from '../../messages/request/thinking.ts';
import { isToolResult, type EncodeContext, type Message } from './encode-context.ts';
import type { WireObject } from '../../json-fields.ts';

/** The thinking settings of a request. */
export interface ReasoningPlan {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: WireObject;
  readonly maxTokens: number | undefined;
  /** `restricted`: a Claude that thinks takes little sampling; `fixed`: no sampling at all. */
  readonly sampling: 'free' | 'restricted' | 'fixed';
}

/** The longest response that every thinking Claude can give, where neither caller nor catalog set a limit. */
const OUTPUT_TOKENS_DEFAULT = 32_000;

/** @param forced the model has to call a tool. @spec reasoning-8 */
export function planReasoning(messages: readonly Message[], forced: boolean, context: EncodeContext): ReasoningPlan {
  const supported = supportedSettings(context);
  return context.facts.claude === true
    ? planClaude(supported, messages, forced, context)
    : planOthers(supported, context);
}

function supportedSettings({ request, supports, warnings }: EncodeContext): Settings {
  const { reasoning, verbosity, ...others } = request.settings;
  if (reasoning !== undefined && !supports('reasoning'))
    warnings.add('field-dropped', 'reasoning', 'the endpoint does not take it');
  if (verbosity !== undefined && !supports('verbosity'))
    warnings.add('field-dropped', 'verbosity', 'the endpoint does not take it');
  return {
    ...others,
    ...(reasoning !== undefined && supports('reasoning') && { reasoning }),
    ...(verbosity !== undefined && supports('verbosity') && { verbosity }),
  };
}

/** As `planReasoning`: a Nova that thinks hard takes no limit. */
export function responseLimit({ settings }: GenerationRequest, target: LimitTarget): number | undefined {
  const { converse: facts } = target.dialect;
  if (facts?.claude === true) return foreignLimit(settings, target);
  const { maxTokens, reasoning = {} } = settings;
  const effort = effortOf(reasoning, maxTokens ?? target.maxOutputTokens);
  const isHard = effort !== undefined && nearestEffort(effort, ['low', 'medium', 'high']) === 'high';
  return facts?.reasoning === 'reasoningConfig' && isHard ? undefined : maxTokens;
}

function planClaude(
  requested: Settings,
  messages: readonly Message[],
  forced: boolean,
  context: EncodeContext,
): ReasoningPlan {
  const { target, request, warnings } = context;
  const { dialect, maxOutputTokens: limit } = target;
  const sampling = dialect.thinking === 'adaptive-only' ? 'fixed' : 'free';
  const plan = encodeForeignThinking({
    settings: request.format === 'messages' ? effortAsVerbosity(requested, context) : requested,
    dialect,
    maxTokens: requested.maxTokens ?? limit ?? OUTPUT_TOKENS_DEFAULT,
    maxTokensLimit: limit,
    forced,
    warnings,
  });
  if (plan.thinking?.['type'] === 'disabled' && context.facts.alwaysThinks === true) {
    warnings.add('field-dropped', 'reasoning', 'the model always thinks');
    return { fields: encodeEffort(plan, requested), maxTokens: requested.maxTokens, sampling };
  }
  if (plan.thinking?.['type'] === 'enabled' && hasUnthoughtTurn(messages)) {
    warnings.add('field-dropped', 'reasoning', 'the reasoning before the last tool call is not there any more');
    return { fields: {}, maxTokens: requested.maxTokens, sampling };
  }
  return {
    fields: { ...encodeThinking(plan, context), ...encodeEffort(plan, requested) },
    // Without a maximum the format takes the model's own, which is above every budget.
    maxTokens: requested.maxTokens === undefined ? undefined : plan.maxTokens,
    sampling: plan.active && sampling === 'free' ? 'restricted' : sampling,
  };
}

/** In the messages format an effort alone rules how long responses are; it does not ask for thinking. */
function effortAsVerbosity(requested: Settings, { target: { dialect }, warnings }: EncodeContext): Settings {
  const { reasoning, ...others } = requested;
  const effort = reasoning?.effort;
  if (reasoning === undefined || effort === undefined || hasThinking(reasoning)) return requested;
  if (effort === 'none' || effort === 'minimal') return others;
  if (dialect.thinking === 'adaptive' || dialect.thinking === 'adaptive-only') return { ...others, verbosity: effort };
  warnings.add('field-dropped', 'output_config.effort', 'the model knows no effort');
  return others;
}

function hasThinking({ enabled, adaptive, maxTokens }: ReasoningSettings): boolean {
  return enabled !== undefined || adaptive !== undefined || maxTokens !== undefined;
}

/** Models that show their thinking by themselves need not know the member that asks for it. */
function encodeThinking({ thinking }: ThinkingPlan, { target, request }: EncodeContext): WireObject {
  if (thinking === undefined) return {};
  const { display, ...rest } = thinking;
  const stated = target.dialect.thinking === 'adaptive-only' || request.settings.reasoning?.display !== undefined;
  return { thinking: display === undefined || !stated ? rest : { ...rest, display } };
}

/** "The model decides how much" is expressed by leaving the member out. */
function encodeEffort({ effort }: ThinkingPlan, { reasoning, verbosity }: Settings): WireObject {
  const adaptiveOnly = reasoning?.adaptive === true && reasoning.effort === undefined && verbosity === undefined;
  return effort === undefined || adaptiveOnly ? {} : { output_config: { effort } };
}

/** The vendor refuses to go on thinking after calls that were made without thinking. @spec reasoning-19 */
function hasUnthoughtTurn(messages: readonly Message[]): boolean {
  const [assistant, user] = messages.slice(-2);
  const [result] = user?.pieces ?? [];
  if (assistant?.role !== 'assistant' || result === undefined || !isToolResult(result)) return false;
  return assistant.pieces[0]?.wire['reasoningContent'] === undefined;
}

function planOthers({ reasoning = {}, verbosity, maxTokens }: Settings, context: EncodeContext): ReasoningPlan {
  const { facts, warnings } = context;
  if (verbosity !== undefined) warnings.add('field-dropped', 'verbosity', 'the model knows no effort');
  const unplanned: ReasoningPlan = { fields: {}, maxTokens, sampling: 'free' };
  const preferred = effortOf(reasoning, maxTokens ?? context.target.maxOutputTokens);
  if (preferred === undefined) return unplanned;
  if (preferred === 'none') {
    if (facts.alwaysThinks === true) warnings.add('field-dropped', 'reasoning', 'the model always thinks');
    return unplanned;
  }
  switch (facts.reasoning) {
    case undefined:
      warnings.add('field-dropped', 'reasoning', 'the model has no setting that turns thinking on');
      return unplanned;
    case 'reasoning_effort':
      return { ...unplanned, fields: { reasoning_effort: nearestEffort(preferred, ['low', 'medium', 'high']) } };
    case 'reasoning_config':
      return { ...unplanned, fields: { reasoning_config: nearestEffort(preferred, ['low', 'high']) } };
    case 'reasoningConfig':
      return planNova(nearestEffort(preferred, ['low', 'medium', 'high']) ?? preferred, maxTokens, context);
    default:
      return unreachable(facts.reasoning);
  }
}

/** @source github.com/UKGovernmentBEIS/inspect_ai issue 3767 (by a member of the vendor), read 2026-11 */
function planNova(effort: Effort, maxTokens: number | undefined, { warnings }: EncodeContext): ReasoningPlan {
  const reasoningConfig: JsonObject = { type: 'enabled', maxReasoningEffort: effort };
  if (effort !== 'high') return { fields: { reasoningConfig }, maxTokens, sampling: 'free' };
  if (maxTokens !== undefined)
    warnings.add('field-dropped', 'max_tokens', 'the model takes no maximum while it thinks with high effort');
  return { fields: { reasoningConfig }, maxTokens: undefined, sampling: 'fixed' };
}
