import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { messageOf, strippedMessageOf } from '../support/next-turn.ts';
import { listOf, objectOf, textOf, type Reported } from '../support/reported.ts';
import { chatChunk, json, sse, stream, type Arrived, type Script } from '../support/upstream.ts';

const shared = shareAllUpstreams();
const GO_ON = { role: 'user', content: 'Go on.' };
const SEALED = 'dHJhaWxpbmcgdGhvdWdodA==';

/** Streams text first, and the signature of it with the last chunk, as the third generation of the vendor does. */
function geminiScript(text: string, signature = SEALED): Script {
  const chunk = (part: JsonObject, more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'gemini-3-pro-preview',
    responseId: 'gemini-1',
  });
  const last = { text: '', thoughtSignature: signature };
  return (arrived, response, request) => {
    const script = arrived.path.includes(':streamGenerateContent')
      ? stream(sse([chunk({ text: text.slice(0, 3) }), chunk({ text: text.slice(3) }), chunk(last, STOP)]))
      : json(200, {
          ...chunk({ text }),
          candidates: [{ content: { role: 'model', parts: [{ text }, last] }, index: 0, ...STOP }],
        });
    return script(arrived, response, request);
  };
}
const STOP = { finishReason: 'STOP' };

/** A chat host that names the encrypted reasoning of a text in the last chunk. */
function detailsScript(text: string): Script {
  const details = [{ type: 'reasoning.encrypted', data: SEALED, format: 'google-gemini-v1', index: 0 }];
  return stream(
    sse([
      chatChunk({ role: 'assistant', content: text }),
      chatChunk({ content: '', reasoning_details: details }),
      chatChunk({}, 'stop'),
      { ...chatChunk({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
      '[DONE]',
    ]),
  );
}

/** Every signature that reached the vendor, with the text that it stood on. */
function signedParts({ body }: Arrived): readonly (readonly string[])[] {
  const parts = listOf(body['contents'] as Json).flatMap((content) => listOf(objectOf(content)['parts']));
  return parts.flatMap((part) => {
    const { text, thoughtSignature } = objectOf(part);
    return thoughtSignature === undefined ? [] : [[textOf(text), textOf(thoughtSignature)]];
  });
}

const blockTypes = ({ message }: Reported): readonly (Json | undefined)[] =>
  listOf(message['content']).map((block) => objectOf(block)['type']);

suite("the signature after a model's text", () => {
  for (const streamed of [true, false])
    test(`leaves the text the last block for a messages client, stream: ${streamed}`, async () => {
      const { upstream, ask } = shared();
      const text = `The tide turns, ${streamed}.`;
      upstream.script = geminiScript(text);
      const { reported } = await ask('messages', 'gemini', {
        max_tokens: 100,
        stream: streamed,
        messages: [{ role: 'user', content: 'Tides?' }],
      });
      assert.equal(blockTypes(reported).at(-1), 'text');
      assert.equal(reported.text, text);
    });

  for (const caller of CALLERS)
    for (const streamed of [true, false])
      for (const keep of [messageOf, strippedMessageOf])
        test(`returns on its text in the next turn: ${caller}, stream: ${streamed}, ${keep.name}`, async () => {
          const { upstream, ask } = shared();
          const user = { role: 'user', content: `Say it: ${caller} ${streamed} ${keep.name}` };
          const first = { max_tokens: 100, stream: streamed, messages: [user] };
          upstream.script = geminiScript('Yes.');
          const { reported } = await ask(caller, 'gemini', first);
          const messages = [user, keep(caller, reported), GO_ON];
          const { arrived } = await ask(caller, 'gemini', { ...first, messages });
          assert.deepEqual(signedParts(arrived), [['Yes.', SEALED]]);
        });

  test('is distinguished for two equal texts of one conversation', async () => {
    const { upstream, ask } = shared();
    let messages: readonly JsonObject[] = [{ role: 'user', content: 'Answer alike twice.' }];
    for (const signature of ['b25l', 'dHdv']) {
      upstream.script = geminiScript('Done.', signature);
      const { reported } = await ask('messages', 'gemini', { max_tokens: 100, stream: true, messages });
      messages = [...messages, strippedMessageOf('messages', reported), GO_ON];
    }
    const { arrived } = await ask('messages', 'gemini', { max_tokens: 100, stream: true, messages });
    assert.deepEqual(signedParts(arrived), [
      ['Done.', 'b25l'],
      ['Done.', 'dHdv'],
    ]);
  });

  test('is not added to an equal text of another conversation', async () => {
    const { upstream, ask } = shared();
    upstream.script = geminiScript('Sure.');
    const stated = { role: 'assistant', content: 'Sure.' };
    await ask('chat', 'gemini', { stream: true, messages: [{ role: 'user', content: 'One conversation' }] });
    const other = [{ role: 'user', content: 'Another conversation' }, stated, GO_ON];
    const { arrived } = await ask('chat', 'gemini', { stream: true, messages: other });
    assert.deepEqual(signedParts(arrived), []);
  });

  test('leaves the text of a chat host the last block, and returns to that host', async () => {
    const { upstream, ask } = shared();
    upstream.script = detailsScript('From a chat host.');
    const user = { role: 'user', content: 'Who?' };
    const request = { max_tokens: 100, stream: true };
    const { reported } = await ask('messages', 'openrouter', { ...request, messages: [user] });
    assert.deepEqual(blockTypes(reported), ['text']);
    const messages = [user, messageOf('messages', reported), GO_ON];
    const { arrived } = await ask('messages', 'openrouter', { ...request, messages });
    const sent = objectOf(listOf((arrived.body as JsonObject)['messages'])[1]);
    assert.deepEqual(sent['reasoning_details'], [
      { type: 'reasoning.encrypted', data: SEALED, format: 'google-gemini-v1' },
    ]);
  });
});
