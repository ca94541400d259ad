import type { UrlCitation } from '../../canonical/blocks.ts';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import type { PipelineStage } from '../../canonical/route-report.ts';
import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { ToolOutcome } from '../contract.ts';
import type { Verdict } from './analyst.ts';
import type { Reply } from './ask-model.ts';

/** Of one answer in the result, UTF-16 units: whoever writes the final answer has to read them all. */
const CONTENT_CHARS_MAX = 100_000;
/** Of all answers together. */
const SOURCES_MAX = 200;

/** Why nothing came of it. @source generation.md 5.8 */
export type FailureReason =
  | 'all_panels_failed'
  | 'insufficient_credits'
  | 'rate_limited'
  | 'invalid_model'
  | 'fusion_invocation_capped'
  | 'unexpected_error'
  | 'cancelled';

/** @param more members of the result */
export function failed(reason: FailureReason, error: string, more: JsonObject = {}): ToolOutcome {
  return {
    result: { status: 'error', error, failure_reason: reason, ...more },
    failed: true,
    ...(reason === 'rate_limited' && { errorCode: 'too_many_requests' }),
    ...(reason === 'fusion_invocation_capped' && { errorCode: 'max_uses_exceeded' }),
  };
}

/** Nobody answered. */
export function allFailed(members: readonly Reply[], signal: AbortSignal): ToolOutcome {
  const reasons = new Set(members.map(({ error }) => error && reasonOf(error)));
  const [same] = reasons.size === 1 ? reasons : [];
  const reason = signal.aborted ? 'cancelled' : (same ?? 'all_panels_failed');
  const told = members.map(({ model, error }) => `${model}: ${error?.message ?? NO_TEXT}`);
  const failedModels = members.map(drawFailed);
  return failed(reason, `No model of the panel gave an answer. ${told.join(' ')}`, { failed_models: failedModels });
}

/** @param answered those that did, at least one */
export function succeeded(answered: readonly Reply[], lost: readonly Reply[], verdict: Verdict): ToolOutcome {
  const sources = uniqueSources([...answered]);
  return {
    result: {
      status: 'ok',
      ...('analysis' in verdict ? { analysis: verdict.analysis } : { failure_reason: verdict.fault }),
      responses: drawAnswers(answered),
      ...(lost.length > 0 && { failed_models: lost.map(drawFailed) }),
      ...(sources.length > 0 && { sources: sources.map(({ url, title }) => ({ title: title ?? url, url })) }),
    },
    citations: sources,
  };
}

export function drawAnswers(answered: readonly Reply[]): { readonly model: string; readonly content: string }[] {
  return answered.map(({ model, text }) => ({
    model,
    content: text.length <= CONTENT_CHARS_MAX ? text : `${text.slice(0, CONTENT_CHARS_MAX)}...`,
  }));
}

const NO_TEXT = 'It gave no text.';

function drawFailed({ model, error }: Reply): JsonObject {
  return { model, error: error?.message ?? NO_TEXT, ...(error !== undefined && { status_code: error.status }) };
}

function reasonOf({ status, type, availability }: GatewayError): FailureReason | undefined {
  if (status === 402) return 'insufficient_credits';
  if (status === 429) return 'rate_limited';
  if (availability?.code === 'model_not_found' || type === 'not_found') return 'invalid_model';
  return status === 500 ? 'unexpected_error' : undefined;
}

/** Where a text begins in another answer tells nothing here. */
function uniqueSources(answered: readonly Reply[]): readonly UrlCitation[] {
  const unique = new Map<string, UrlCitation>();
  for (const { url, title, excerpt } of answered.flatMap(({ sources }) => sources)) {
    if (unique.size >= SOURCES_MAX) break;
    if (unique.has(url)) continue;
    const more = { ...(title !== undefined && { title }), ...(excerpt !== undefined && { excerpt }) };
    unique.set(url, { type: 'url', url, ...more });
  }
  return [...unique.values()];
}

/**
 * What the run came to: who was asked, how long that took, and what it cost.
 * @param elapsedMs of the whole run
 * @param analyst absent: nobody was asked to compare anything
 */
export function drawStage(
  elapsedMs: number,
  members: readonly Reply[],
  analyst?: { readonly reply: Reply; readonly verdict: Verdict },
): PipelineStage {
  const answers = members.filter(isAnswer).length;
  const fault = analyst !== undefined && 'fault' in analyst.verdict ? analyst.verdict.fault : undefined;
  const all = analyst === undefined ? members : [...members, analyst.reply];
  const lacks = fault === undefined ? '' : `; no analysis: ${fault}`;
  return {
    type: 'fusion',
    name: 'fusion',
    summary: `${answers} of ${members.length} models of the panel answered${lacks}`,
    data: {
      ms: Math.round(elapsedMs),
      members: members.map((member) => drawReply(member, isAnswer(member))),
      ...(analyst !== undefined && {
        analyst: {
          ...drawReply(analyst.reply, fault === undefined),
          ...(fault !== undefined && { failure_reason: fault }),
        },
      }),
    },
    costNanoUsd: all.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
  };
}

export function isAnswer({ error, text }: Reply): boolean {
  return error === undefined && text !== '';
}

function drawReply({ model, error, elapsedMs, usage, costNanoUsd }: Reply, isOk: boolean): JsonObject {
  return {
    model,
    status: isOk ? 'ok' : 'failed',
    ms: Math.round(elapsedMs),
    prompt_tokens: usage?.promptTokens ?? 0,
    completion_tokens: usage?.completionTokens ?? 0,
    cost_usd: usdFromNano(costNanoUsd),
    ...(error !== undefined && { error: error.message, status_code: error.status }),
  };
}
