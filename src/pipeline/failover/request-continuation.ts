import { estimateTokens } from '../../canonical/estimate-tokens.ts';
import type { GenerationRequest, Settings, Turn } from '../../canonical/request.ts';
import type { Dialect } from '../../wire/format.ts';
import type { Candidate } from '../../routing/route-plan.ts';

/**
 * Whether a candidate, given the beginning of an answer as the last turn, goes on from there: it must be known to, and
 * the request must not ask for anything that a new beginning is part of. The vendor that invented it refuses it beside reasoning.
 * @source platform.claude.com "Prefill Claude's response", read 2026-11
 */
export function goesOn(
  { endpoint }: Candidate,
  { continuesResponses, reasonsByDefault, mustReason }: Dialect,
  { settings }: GenerationRequest,
  delivered: string,
): boolean {
  if (delivered.trimEnd() === '' || isStructured(settings) || reasons(settings)) return false;
  if (settings.toolChoice !== undefined && settings.toolChoice.type !== 'auto' && settings.toolChoice.type !== 'none')
    return false;
  return (
    endpoint.continuesResponses ?? (continuesResponses === true && reasonsByDefault !== true && mustReason !== true)
  );
}

/** The answer is more than text to its reader. */
export function isStructured({ responseFormat }: Settings): boolean {
  return responseFormat !== undefined && responseFormat.type !== 'text';
}

function reasons({ reasoning }: Settings): boolean {
  return reasoning !== undefined && reasoning.enabled !== false && reasoning.effort !== 'none';
}

/** The request with what the caller has of the answer as its last turn, and what that leaves of the answer's length. */
export function askToGoOn(request: GenerationRequest, delivered: string): GenerationRequest {
  const { settings } = request;
  const { maxTokens } = settings;
  const spent = estimateTokens(delivered);
  return {
    ...request,
    turns: withBeginning(request.turns, delivered.trimEnd()),
    settings: { ...settings, ...(maxTokens !== undefined && { maxTokens: Math.max(1, maxTokens - spent) }) },
  };
}

/** The most that a continuation may cost: what the caller has as prompt, and a response of full length. */
export function longestGoOn(request: GenerationRequest, delivered: string): GenerationRequest {
  return { ...askToGoOn(request, delivered), settings: request.settings };
}

/** A caller that began the answer itself began the same turn. */
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
