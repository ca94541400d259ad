import type { JsonObject } from '../../lib/json.ts';
import { ARGUMENT_CHARS, callIdOf, type Frame, type Identity, type TokenCounts } from '../answer-parts.ts';
import type { Script } from '../script.ts';
import { splitPieces, splitTokens } from '../tokens.ts';

// Everything here is written by hand from the vendor's reference (openai 7.55 types, 2026-11) and shares nothing with
// the gateway's own encoders: two that agree by accident would hide a mistake.

const FINGERPRINT = 'fp_sandbox';

/** A whole answer, as JSON text. */
export function encodeChatWhole(script: Script, counts: TokenCounts, identity: Identity): string {
  const { text, reasoning, calls } = script;
  return JSON.stringify({
    id: `chatcmpl-${identity.digest}`,
    object: 'chat.completion',
    created: identity.createdS,
    model: identity.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          refusal: null,
          ...(reasoning !== undefined && { reasoning_content: reasoning }),
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ name, input }, index) => ({
              id: callIdOf('call_', identity, index),
              type: 'function',
              function: { name, arguments: input },
            })),
          }),
          annotations: [],
        },
        logprobs: null,
        finish_reason: finishReason(script),
      },
    ],
    usage: encodeUsage(counts),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  });
}

/**
 * The same as a stream.
 * @param hasUsage `stream_options.include_usage`: every chunk then says `"usage":null` until the last one counts
 */
export function* encodeChatStream(
  script: Script,
  counts: TokenCounts,
  identity: Identity,
  hasUsage: boolean,
): Generator<Frame, void, undefined> {
  const head = `data: {"id":"chatcmpl-${identity.digest}","object":"chat.completion.chunk","created":${identity.createdS},"model":${JSON.stringify(identity.model)},"service_tier":"default","system_fingerprint":"${FINGERPRINT}"`;
  const usage = hasUsage ? ',"usage":null' : '';
  const chunk = (delta: string, finish: string): string =>
    `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${usage}}\n\n`;
  const token = (delta: string): Frame => ({ kind: 'token', text: chunk(delta, 'null') });

  const content = script.text === undefined ? 'null' : '""';
  yield { kind: 'lifecycle', text: chunk(`{"role":"assistant","content":${content},"refusal":null}`, 'null') };
  for (const piece of splitTokens(script.reasoning ?? ''))
    yield token(`{"reasoning_content":${JSON.stringify(piece)}}`);
  for (const piece of splitTokens(script.text ?? '')) yield token(`{"content":${JSON.stringify(piece)}}`);
  yield* encodeCalls(script, identity, token);
  yield { kind: 'end', text: chunk('{}', `"${finishReason(script)}"`) };
  if (hasUsage) yield { kind: 'end', text: `${head},"choices":[],"usage":${JSON.stringify(encodeUsage(counts))}}\n\n` };
  yield { kind: 'end', text: 'data: [DONE]\n\n' };
}

/** All calls open first, then their arguments take turns: the hardest order that the format allows. */
function* encodeCalls(
  { calls }: Script,
  identity: Identity,
  token: (delta: string) => Frame,
): Generator<Frame, void, undefined> {
  for (const [index, { name }] of calls.entries()) {
    const id = callIdOf('call_', identity, index);
    yield token(
      `{"tool_calls":[{"index":${index},"id":"${id}","type":"function","function":{"name":${JSON.stringify(name)},"arguments":""}}]}`,
    );
  }
  const pieces = calls.map(({ input }) => splitPieces(input, ARGUMENT_CHARS));
  const rounds = Math.max(0, ...pieces.map(({ length }) => length));
  for (let round = 0; round < rounds; round++)
    for (const [index, ofCall] of pieces.entries()) {
      const piece = ofCall[round];
      if (piece === undefined) continue;
      yield token(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`);
    }
}

function finishReason({ finish }: Script): string {
  return finish === 'stop_sequence' ? 'stop' : finish;
}

function encodeUsage(counts: TokenCounts): JsonObject {
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.completion,
    total_tokens: counts.prompt + counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cacheRead, cache_write_tokens: counts.cacheWrite, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: counts.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
