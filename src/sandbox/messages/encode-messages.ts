import { parseJson, type JsonObject } from '../../lib/json.ts';
import { ARGUMENT_CHARS, callIdOf, type Frame, type Identity, type TokenCounts } from '../answer-parts.ts';
import type { Script } from '../script.ts';
import { signThinking } from '../signature.ts';
import { splitPieces, splitTokens } from '../tokens.ts';

// Everything here is written by hand from the vendor's reference (@anthropic-ai/sdk 1.11 types, 2026-11) and shares
// nothing with the gateway's own encoders: two that agree by accident would hide a mistake.

const STOP_REASONS: Readonly<Record<Script['finish'], string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

/** A whole answer, as JSON text. */
export function encodeMessagesWhole(script: Script, counts: TokenCounts, identity: Identity): string {
  const content: JsonObject[] = [];
  if (script.reasoning !== undefined) {
    const thinking = script.isReasoningHidden ? '' : script.reasoning;
    content.push({ type: 'thinking', thinking, signature: signThinking(script.reasoning) });
  }
  // A block without text is no block: an answer that was cut before its first token has none.
  if (script.text !== undefined && script.text !== '')
    content.push({ type: 'text', text: script.text, citations: null });
  for (const [index, { name, input }] of script.calls.entries())
    content.push({ ...encodeCall(identity, index, name), input: parseJson(input) ?? {} });
  return JSON.stringify({
    ...encodeMessage(identity),
    content,
    stop_reason: STOP_REASONS[script.finish],
    stop_sequence: script.stopSequence ?? null,
    usage: encodeUsage(counts, counts.completion),
  });
}

/** The same as a stream. */
export function* encodeMessagesStream(
  script: Script,
  counts: TokenCounts,
  identity: Identity,
): Generator<Frame, void, undefined> {
  const message = { ...encodeMessage(identity), usage: encodeUsage(counts, 1) };
  yield lifecycle('message_start', { message });
  yield lifecycle('ping', {});
  let index = 0;
  if (script.reasoning !== undefined) yield* encodeThinking(script, script.reasoning, index++);
  if (script.text !== undefined && script.text !== '') yield* encodeText(script.text, index++);
  for (const [order, call] of script.calls.entries()) {
    yield lifecycle('content_block_start', {
      index,
      content_block: { ...encodeCall(identity, order, call.name), input: {} },
    });
    // The vendor sends an empty piece first.
    yield delta(index, `{"type":"input_json_delta","partial_json":""}`, 'lifecycle');
    for (const piece of splitPieces(call.input, ARGUMENT_CHARS))
      yield delta(index, `{"type":"input_json_delta","partial_json":${JSON.stringify(piece)}}`, 'token');
    yield lifecycle('content_block_stop', { index: index++ });
  }
  const ending = {
    stop_reason: STOP_REASONS[script.finish],
    stop_sequence: script.stopSequence ?? null,
    stop_details: null,
    container: null,
  };
  yield frame('message_delta', { delta: ending, usage: encodeFinalUsage(counts) }, 'end');
  yield frame('message_stop', {}, 'end');
}

function* encodeThinking(script: Script, reasoning: string, index: number): Generator<Frame, void, undefined> {
  yield lifecycle('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } });
  if (!script.isReasoningHidden)
    for (const piece of splitTokens(reasoning))
      yield delta(index, `{"type":"thinking_delta","thinking":${JSON.stringify(piece)}}`, 'token');
  yield delta(index, `{"type":"signature_delta","signature":"${signThinking(reasoning)}"}`, 'lifecycle');
  yield lifecycle('content_block_stop', { index });
}

function* encodeText(text: string, index: number): Generator<Frame, void, undefined> {
  yield lifecycle('content_block_start', { index, content_block: { type: 'text', text: '', citations: null } });
  for (const piece of splitTokens(text))
    yield delta(index, `{"type":"text_delta","text":${JSON.stringify(piece)}}`, 'token');
  yield lifecycle('content_block_stop', { index });
}

function frame(type: string, members: JsonObject, kind: Frame['kind']): Frame {
  return { kind, text: `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n` };
}

function lifecycle(type: string, members: JsonObject): Frame {
  return frame(type, members, 'lifecycle');
}

function delta(index: number, json: string, kind: Frame['kind']): Frame {
  const text = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${json}}\n\n`;
  return { kind, text };
}

function encodeMessage(identity: Identity): JsonObject {
  return {
    id: `msg_${identity.digest}`,
    type: 'message',
    role: 'assistant',
    model: identity.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
  };
}

function encodeCall(identity: Identity, index: number, name: string): JsonObject {
  return { type: 'tool_use', id: callIdOf('toolu_', identity, index), name, caller: { type: 'direct' } };
}

/** `input_tokens` leaves out what was read from the cache or written to it: the opposite of the chat format. */
function encodeUsage(counts: TokenCounts, outputTokens: number): JsonObject {
  return {
    input_tokens: counts.prompt - counts.cacheRead - counts.cacheWrite,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: counts.cacheWrite - counts.cacheWrite1h,
      ephemeral_1h_input_tokens: counts.cacheWrite1h,
    },
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: counts.reasoning },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
  };
}

/** Cumulative, like everything in `message_delta`: nothing of it is to be added to `message_start`. */
function encodeFinalUsage(counts: TokenCounts): JsonObject {
  const {
    cache_creation: _creation,
    service_tier: _tier,
    inference_geo: _geo,
    ...usage
  } = encodeUsage(counts, counts.completion);
  return usage;
}
