import assert from 'node:assert/strict';
import { readFacts, type RecordedCall, type RecordedFacts } from '../support/recordings/recorded-facts.ts';
import type { Recording } from '../support/recordings/recordings.ts';
import type { Ask, Replayed } from '../support/recordings/replay.ts';
import { objectOf, type Reported } from '../support/reported.ts';

/** Where a reader that knows so little cannot say what is right; the golden of the recording can. */
export const BEYOND: ReadonlyMap<string, readonly (keyof RecordedFacts)[]> = new Map([
  // The messages format has no field for a refusal, so it becomes text.
  ['chat/refusal-stream', ['texts']],
  ['responses/refusal-stream', ['texts']],
  // Arguments in pieces that each name their place.
  ['gemini/partial-args-missing-end', ['calls']],
]);

/** Compares the caller's response with the recording, byte for byte. */
export function checkFacts(recording: Recording, ask: Ask, reported: Reported, { record }: Replayed): void {
  const facts = readFacts(recording);
  const beyond = BEYOND.get(recording.name) ?? [];
  const judges = (fact: keyof RecordedFacts): boolean => !beyond.includes(fact);
  if (judges('texts')) assert.equal(reported.text, facts.texts.join(ask.format === 'chat' ? '\n\n' : ''), 'the text');
  // Several summaries of one thought may be set apart by blank lines.
  if (judges('reasoning'))
    assert.equal(withoutLines(reported.reasoning), withoutLines(facts.reasoning), 'the reasoning');
  if (judges('seals')) {
    for (const seal of facts.seals)
      assert.ok(
        reported.seals.some((other) => other === seal || other.endsWith(`:${seal}`) || other === blobText(seal)),
        `the signature or encrypted reasoning ${seal.slice(0, 20)}`,
      );
  }
  if (judges('calls')) checkCalls(reported, facts.calls, ask.format === 'messages' && !ask.stream);
  // What broke off is counted by the gateway itself.
  if (judges('usage') && facts.usage !== undefined && reported.error === undefined)
    assert.deepEqual(countsOf(reported, ask), facts.usage, 'the usage');
  if (judges('finish') && reported.error === undefined)
    assert.equal(record?.['native_finish_reason'], facts.finish, 'the reason of the end');
}

/** Bedrock wraps what the model's vendor calls `data` in a blob. */
function blobText(seal: string): string {
  return Buffer.from(seal, 'base64').toString('latin1');
}

function withoutLines(text: string): string {
  return text.replaceAll('\n', '');
}

/** @param isObject the caller gets the arguments as an object, not as text */
function checkCalls(reported: Reported, calls: readonly RecordedCall[], isObject: boolean): void {
  assert.equal(reported.calls.length, calls.length, `calls: ${JSON.stringify(reported.calls)}`);
  for (const [at, { id, name, arguments: given }] of calls.entries()) {
    const call = reported.calls[at];
    assert.ok(call !== undefined);
    // Some providers give calls no id.
    if (id === '') assert.match(call.id, /^call_made_here_/);
    else assert.equal(call.id, id);
    assert.equal(call.name, name);
    // An object has no spaces of its own; everything else is the very text that came.
    if (typeof given === 'object') assert.deepEqual(JSON.parse(call.arguments), given);
    else if (isObject) assert.equal(call.arguments, withoutSpaces(given), 'the input, but for spaces');
    else assert.equal(call.arguments, given, 'the arguments, byte for byte');
  }
}

/** JSON text without the spaces between its tokens. */
export function withoutSpaces(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_match, text: string | undefined) => text ?? '');
}

function countsOf({ usage }: Reported, { format }: Ask): RecordedFacts['usage'] {
  if (format === 'chat') {
    const prompt = objectOf(usage['prompt_tokens_details']);
    return {
      prompt: Number(usage['prompt_tokens']),
      completion: Number(usage['completion_tokens']),
      cacheRead: Number(prompt['cached_tokens'] ?? 0),
      cacheWrite: Number(prompt['cache_write_tokens'] ?? 0),
      reasoning: Number(objectOf(usage['completion_tokens_details'])['reasoning_tokens'] ?? 0),
    };
  }
  const [read, write] = [Number(usage['cache_read_input_tokens']), Number(usage['cache_creation_input_tokens'])];
  return {
    prompt: Number(usage['input_tokens']) + read + write,
    completion: Number(usage['output_tokens']),
    cacheRead: read,
    cacheWrite: write,
    reasoning: Number(objectOf(usage['output_tokens_details'])['thinking_tokens'] ?? 0),
  };
}
