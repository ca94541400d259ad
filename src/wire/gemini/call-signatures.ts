import type { Block, ReasoningBlock, ReasoningFamily, ToolCallBlock } from '../../canonical/blocks.ts';
import type { Extra } from '../../canonical/extra.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { isJsonObject } from '../../lib/json.ts';

/** The family of models that can read this format's thought signatures. @spec reasoning-20 */
export const GEMINI_FAMILY: ReasoningFamily = 'google-gemini-v1';

/**
 * Stands in for a signature that is gone: the vendor's own stopgap for its validator, for calls that another model made or
 * whose signature a client lost. ai.google.dev "Thought signatures", "FAQs", read 2026-11
 */
export const MISSING_SIGNATURE = 'skip_thought_signature_validator';

/** Bytes on this format: base64 of either alphabet. Anything else would be refused with the whole request. */
const SIGNATURE = /^[A-Za-z0-9+/_-]+={0,2}$/;

export function isSignature(text: string): boolean {
  return SIGNATURE.test(text);
}

/** Encrypted reasoning that carries a thought signature; `undefined` for any other block. */
export function asSignature(block: Block): (ReasoningBlock & { readonly form: 'encrypted' }) | undefined {
  if (block.type !== 'reasoning' || block.form !== 'encrypted' || block.family !== GEMINI_FAMILY) return undefined;
  return { ...block, form: 'encrypted' };
}

/**
 * A signature as a block of its own. It stands right before what it was found on, and names the call where that is one:
 * callers keep that id, those of the messages format in a seal, and the order besides. @spec reasoning-20
 */
export function signatureBlock(signature: string, callId?: string): ReasoningBlock {
  return {
    type: 'reasoning',
    form: 'encrypted',
    text: signature,
    family: GEMINI_FAMILY,
    ...(callId !== undefined && { id: callId }),
  };
}

/**
 * The signature a second time, on the call itself, as the vendor's own chat endpoint writes it: many clients of the chat
 * format keep that member and none else. ai.google.dev "Thought signatures", "OpenAI compatibility"; @spec reasoning-20
 */
export function signatureExtra(signature: string): Extra {
  return { format: 'chat', fields: { extra_content: { google: { thought_signature: signature } } } };
}

/** The signature that a caller of the chat format sent back on the call itself. */
export function signatureOnCall({ extra }: ToolCallBlock): string | undefined {
  const content = extra?.format === 'chat' ? extra.fields['extra_content'] : undefined;
  const { google } = isJsonObject(content) ? content : {};
  const signature = isJsonObject(google) ? google['thought_signature'] : undefined;
  return typeof signature === 'string' && isSignature(signature) ? signature : undefined;
}

/** Signatures of the calls among the blocks of one response or turn, by call id: what a store would keep. @spec reasoning-20 */
export function signaturesOfCalls(blocks: readonly Block[]): ReadonlyMap<string, string> {
  const calls = new Set(blocks.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])));
  const signatures = new Map<string, string>();
  for (const block of blocks) {
    const onCall = block.type === 'tool-call' ? signatureOnCall(block) : undefined;
    if (block.type === 'tool-call' && onCall !== undefined && !signatures.has(block.id))
      signatures.set(block.id, onCall);
    const apart = asSignature(block);
    if (apart?.id !== undefined && calls.has(apart.id) && isSignature(apart.text)) signatures.set(apart.id, apart.text);
  }
  return signatures;
}

/**
 * The request with the signatures that its caller lost, wherever `lookUp` knows them. A call that still has its own,
 * before it or on it, keeps that. @param lookUp from the id of a call to its signature
 */
export function restoreCallSignatures(
  request: GenerationRequest,
  lookUp: (callId: string) => string | undefined,
): GenerationRequest {
  let changed = false;
  const turns = request.turns.map((turn) => {
    const signed = turn.role === 'assistant' ? signTurn(turn, lookUp) : turn;
    changed ||= signed !== turn;
    return signed;
  });
  return changed ? { ...request, turns } : request;
}

function signTurn(turn: Turn, lookUp: (callId: string) => string | undefined): Turn {
  const known = signaturesOfCalls(turn.blocks);
  const blocks: Block[] = [];
  for (const [at, block] of turn.blocks.entries()) {
    const before = at === 0 ? undefined : turn.blocks[at - 1];
    const isSigned = before !== undefined && asSignature(before) !== undefined;
    if (block.type === 'tool-call' && block.runBy === 'caller' && !isSigned && !known.has(block.id)) {
      const signature = lookUp(block.id);
      if (signature !== undefined) blocks.push(signatureBlock(signature, block.id));
    }
    blocks.push(block);
  }
  return blocks.length === turn.blocks.length ? turn : { ...turn, blocks };
}
