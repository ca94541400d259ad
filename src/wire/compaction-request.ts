import type { FormatId, Warning } from '../canonical/extra.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { Dialect } from './format.ts';

/** The most that a summary by the gateway's instruction may take, tokens. */
export const SUMMARY_TOKENS_MAX = 4_000;
/** The same where an endpoint writes its own, of whatever form: less could cut it. */
const NATIVE_TOKENS_MAX = 16_000;
export const COMPACTION_TRIGGER = 'compaction_trigger';

/**
 * A request for a shorter history, as one endpoint is to get it. One that shortens histories itself gets the item that asks
 * for it in place of the gateway's instruction, and decides by itself how much it thinks; another one gets the request as it
 * is. Vendor's SDK, openai 7.55 (2026-11), `ResponseInputItem.CompactionTrigger`.
 */
export function compactAt(request: GenerationRequest, format: FormatId, dialect: Dialect): GenerationRequest {
  const { response, settings, turns } = request;
  if (response?.compactsNatively !== true || format !== 'responses' || dialect.compaction !== true) return request;
  const instruction = turns.at(-1);
  const { reasoning: _ofSummary, toolChoice: _noTool, maxTokens, ...others } = settings;
  // What a budget leaves stays the limit.
  const limit = maxTokens === SUMMARY_TOKENS_MAX ? NATIVE_TOKENS_MAX : maxTokens;
  const trigger: Turn = {
    role: 'user',
    blocks: [{ type: 'opaque', format: 'responses', value: { type: COMPACTION_TRIGGER } }],
    ...(instruction?.source !== undefined && { source: instruction.source }),
  };
  return {
    ...request,
    turns: [...turns.slice(0, -1), trigger],
    settings: { ...others, ...(limit !== undefined && { maxTokens: limit }) },
  };
}

/** Whether an upstream refused the item that asks for a shorter history: it does not know it after all. */
export function isUnknownTrigger({ upstreamStatus, upstreamMessage = '' }: UpstreamFailure): boolean {
  return upstreamStatus === 400 && upstreamMessage.includes(COMPACTION_TRIGGER);
}

/** The same request with a summary by the gateway's instruction alone; no warnings where it is that already. */
export function withOwnSummary(request: GenerationRequest): {
  readonly request: GenerationRequest;
  readonly warnings: readonly Warning[];
} {
  const { response } = request;
  if (response?.compactsNatively !== true) return { request, warnings: [] };
  const { compactsNatively: _native, ...others } = response;
  const message = 'the provider does not shorten histories: the gateway has a summary written';
  return { request: { ...request, response: others }, warnings: [{ code: 'field-changed', path: 'input', message }] };
}
