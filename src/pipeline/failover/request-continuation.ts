import { estimateTokens } from '../../canonical/estimate-tokens.ts';
import type { GenerationRequest, Settings, Turn } from '../../canonical/request.ts';
import type { Dialect } from '../../wire/format.ts';
import type { Candidate } from '../../routing/route-plan.ts';

/**
 * Returns whether a candidate continues a response that it gets as its last turn (a prefill): it must be known to, and the
 * request must not want anything that belongs to a beginning. The vendor that invented prefill refuses it beside reasoning.
 * @source platform.claude.com "Prefill Claude's response", read 2026-11
 */
export function canPrefill(
  { endpoint }: Candidate,
  { continuesResponses, reasonsByDefault, mustReason }: Dialect,
  { settings }: GenerationRequest,
  delivered: string,
): boolean {
  if (delivered.trimEnd() === '' || isStructured(settings) || wantsReasoning(settings)) return false;
  if (settings.toolChoice !== undefined && settings.toolChoice.type !== 'auto' && settings.toolChoice.type !== 'none')
    return false;
  return (
    endpoint.continuesResponses ?? (continuesResponses === true && reasonsByDefault !== true && mustReason !== true)
  );
}

/** Returns whether the caller parses the response. */
export function isStructured({ responseFormat }: Settings): boolean {
  return responseFormat !== undefined && responseFormat.type !== 'text';
}

function wantsReasoning({ reasoning }: Settings): boolean {
  return reasoning !== undefined && reasoning.enabled !== false && reasoning.effort !== 'none';
}

/** Puts what the caller has of the response as the last turn, and subtracts it from the maximum length. */
export function toContinuationRequest(request: GenerationRequest, delivered: string): GenerationRequest {
  const { settings } = request;
  const { maxTokens } = settings;
  const spent = estimateTokens(delivered);
  return {
    ...request,
    turns: withBeginning(request.turns, delivered.trimEnd()),
    settings: { ...settings, ...(maxTokens !== undefined && { maxTokens: Math.max(1, maxTokens - spent) }) },
  };
}

/** Makes the most expensive continuation: what the caller has as prompt, and a response of full length. */
export function toLongestContinuationRequest(request: GenerationRequest, delivered: string): GenerationRequest {
  return { ...toContinuationRequest(request, delivered), settings: request.settings };
}

/** Extends the caller's own last assistant turn, where there is one, rather than adding a turn. */
function withBeginning(turns: readonly Turn[], text: string): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant')
    return [...turns, { role: 'assistant', blocks: [{ type: 'text', text }], plain: true }];
  const block = last.blocks.at(-1);
  const blocks =
    block?.type === 'text'
      ? [...last.blocks.slice(0, -1), { ...block, text: block.text + text }]
      : [...last.blocks, { type: 'text' as const, text }];
  return [...turns.slice(0, -1), { ...last, blocks }];
}
