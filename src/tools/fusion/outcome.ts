import type { UrlCitation } from '../../canonical/blocks.ts';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import type { PipelineStage } from '../../canonical/route-report.ts';
import { truncateAtWord } from '../../lib/text/truncate.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { ToolOutcome } from '../contract.ts';
import type { Verdict } from './analyst.ts';
import type { Reply } from './call-model.ts';
import { fitAnswers, type NamedAnswer } from './fit-answers.ts';

/** Of one answer in the result, UTF-16 units: the final model has to read them all. */
const CONTENT_CHARS_MAX = 100_000;
/** Of all answers together. */
const SOURCES_MAX = 200;

/** Why nothing came of it. @spec fusion-12 */
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

/** No member answered. */
export function allFailed(members: readonly Reply[], signal: AbortSignal): ToolOutcome {
  const reasons = new Set(members.map(({ error }) => error && reasonOf(error)));
  const [same] = reasons.size === 1 ? reasons : [];
  const reason = signal.aborted ? 'cancelled' : (same ?? 'all_panels_failed');
  const reported = members.map(({ model, error }) => `${model}: ${error?.message ?? NO_TEXT}`);
  const failedModels = members.map(formatFailed);
  return failed(reason, `No model of the panel gave a response. ${reported.join(' ')}`, {
    failed_models: failedModels,
  });
}

/** The result of a panel for the caller, and the part that the calling model reads. */
export interface Answered {
  /** At least one. */
  readonly answers: readonly NamedAnswer[];
  /** The same as far as the model can read them. */
  readonly readable: readonly NamedAnswer[];
  readonly sources: readonly UrlCitation[];
  readonly lost: readonly Reply[];
  readonly verdict: Verdict;
}

export function succeeded({ answers, readable, sources, lost, verdict }: Answered): ToolOutcome {
  const format = (responses: readonly NamedAnswer[]): JsonObject => ({
    status: 'ok',
    ...('analysis' in verdict ? { analysis: verdict.analysis } : { failure_reason: verdict.fault }),
    responses: responses.map(({ model, content }) => ({ model, content })),
    ...(lost.length > 0 && { failed_models: lost.map(formatFailed) }),
    ...(sources.length > 0 && { sources: sources.map(({ url, title }) => ({ title: title ?? url, url })) }),
  });
  return {
    result: format(answers),
    ...(readable !== answers && { modelReads: [{ type: 'text', text: JSON.stringify(format(readable)) }] }),
    citations: sources,
  };
}

/** What a model reads again of the result of an earlier answer. @param text the result as JSON text */
export function recall(text: string): string {
  const result = parseJsonObject(text);
  const reported = result?.['responses'];
  if (!Array.isArray(reported)) return text;
  const responses = reported.filter(isJsonObject).map(({ model, content }) => ({
    model: typeof model === 'string' ? model : '',
    content: typeof content === 'string' ? content : '',
  }));
  const fitted = fitAnswers(responses, () => undefined);
  // Short results stay as they are, to the letter: a prompt cache may hold them.
  return fitted === responses ? text : JSON.stringify({ ...result, responses: fitted });
}

export function answersOf(answered: readonly Reply[]): readonly NamedAnswer[] {
  return answered.map((reply) => ({ model: reply.model, content: answerOf(reply) }));
}

export function answerOf({ text }: Reply): string {
  return truncateAtWord(text, CONTENT_CHARS_MAX);
}

const NO_TEXT = 'It gave no text.';

function formatFailed(reply: Reply): JsonObject {
  return { model: reply.model, ...lossOf(reply) };
}

/** Why a member gave no answer. */
export function lossOf({ error }: Reply): JsonObject {
  return { error: error?.message ?? NO_TEXT, ...(error !== undefined && { status_code: error.status }) };
}

function reasonOf({ status, type, availability, lacksFunds }: GatewayError): FailureReason | undefined {
  if (lacksFunds) return 'insufficient_credits';
  if (status === 429) return 'rate_limited';
  if (availability?.code === 'model_not_found' || type === 'not_found') return 'invalid_model';
  return status === 500 ? 'unexpected_error' : undefined;
}

/** Each address once. A place in another answer means nothing here. */
export function uniqueSources(answered: readonly Reply[]): readonly UrlCitation[] {
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
 * The stage of a run: its models, times and costs.
 * @param elapsedMs of the whole run
 * @param analyst absent: there was nothing to compare
 */
export function formatStage(
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
      members: members.map((member) => formatReply(member, isAnswer(member))),
      ...(analyst !== undefined && {
        analyst: {
          ...formatReply(analyst.reply, fault === undefined),
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

function formatReply({ model, error, elapsedMs, usage, costNanoUsd }: Reply, isOk: boolean): JsonObject {
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
