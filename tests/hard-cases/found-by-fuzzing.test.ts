import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import { z } from 'zod';
import { foldEvents } from '../../src/canonical/fold.ts';
import { NO_USAGE } from '../../src/canonical/usage.ts';
import { createMessagesClientFormat, messagesUpstreamFormat } from '../../src/wire/messages/format.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { speakChat, speakMessages, startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { chatAnswer, chatChunk, json, messagesAnswer, messagesStream, sse, stream } from '../support/upstream.ts';

// What the fuzzers found once, as cases of their own.

const { gateway, chat, messages } = await startScriptedFormats({ after });
beforeEach(() => {
  chat.script = speakChat('Said in chat.');
  messages.script = speakMessages('Said in messages.');
});

const PATHS = ['/chat/completions', '/messages'] as const;

function ask(path: string, model: string, streaming: boolean): Promise<Response> {
  const content = [{ role: 'user', content: 'hi' }];
  return gateway.post(path, { model, max_tokens: 50, stream: streaming, messages: content });
}

/** Not a primitive value, and it cannot be made one: `String(it)` throws. */
const STUBBORN = { toString: 1, valueOf: 2 };

suite('found by fuzzing', () => {
  for (const path of PATHS)
    test(`replaces implausible token counts and delivers the response, ${path}`, async () => {
      const counts = { prompt_tokens: 1e19, completion_tokens: 1e300, total_tokens: 1e300 };
      chat.script = json(200, chatAnswer('fine', { usage: counts }));
      messages.script = json(200, messagesAnswer('fine', { usage: { input_tokens: 1e19, output_tokens: 1e300 } }));
      for (const model of ['acme/chat', 'acme/messages']) {
        const response = await ask(path, model, false);
        assert.equal(response.status, 200);
        assert.match(await response.text(), /fine/);
        const record = await gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
        assert.ok(record !== undefined && (record.costNanoUsd ?? 0) < 1e6, `${record?.costNanoUsd}`);
      }
    });

  for (const path of PATHS)
    test(`maps an error code that is neither text nor number to 502, ${path}`, async () => {
      const error = { error: { message: 'no', code: STUBBORN, status: STUBBORN, type: STUBBORN } };
      chat.script = json(200, error);
      messages.script = json(200, { type: 'error', ...error });
      for (const model of ['acme/chat', 'acme/messages']) assert.equal((await ask(path, model, false)).status, 502);
      chat.script = stream(sse([error]));
      messages.script = stream(sse([{ type: 'error', ...error }], { named: true }));
      for (const model of ['acme/chat', 'acme/messages']) assert.equal((await ask(path, model, true)).status, 502);
    });

  test('leaves a block with an invalid type out of the other format', async () => {
    const content = [{ type: STUBBORN }, { type: 'text', text: 'fine' }];
    messages.script = json(200, messagesAnswer('', { content }));
    const response = await ask('/chat/completions', 'acme/messages', false);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /fine/);
  });

  test('delivers an event with a name but no type with both', async () => {
    const nameless = messagesStream('one two').replaceAll('"type":"content_block_delta",', '');
    assert.ok(nameless.includes('event: content_block_delta\ndata: {"index":0'));
    messages.script = stream(nameless);
    const response = await ask('/messages', 'acme/messages', true);
    assert.equal(readMessagesStream(await response.text()).text, 'one two');
  });

  for (const path of PATHS)
    test(`blames the provider for a response nested without end, ${path}`, async () => {
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const whole = (answer: object): string => JSON.stringify(answer).replace('"deep"', deep);
      chat.script = (_arrived, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(whole(chatAnswer('x', { more: 'deep' })));
      };
      messages.script = (_arrived, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(whole(messagesAnswer('x', { more: 'deep' })));
      };
      for (const model of ['acme/chat', 'acme/messages']) assert.equal((await ask(path, model, false)).status, 502);
      const half = sse([
        chatChunk({ role: 'assistant', content: 'half' }),
        chatChunk({ content: 'x' }, null, { more: 'deep' }),
      ]);
      chat.script = stream(half.replace('"deep"', deep));
      const response = await ask(path, 'acme/chat', true);
      const { text, error } = (path === '/messages' ? readMessagesStream : readChatStream)(await response.text());
      assert.match(text, /^half/);
      assert.equal(error?.code, 502);
    });

  test('ignores fields beside the end of a stream that belong to the response', () => {
    const odd = messagesStream('fine').replace(
      '"stop_reason":"end_turn"',
      '"stop_reason":"end_turn","type":"x","id":7',
    );
    const decoder = messagesUpstreamFormat.createStreamDecoder();
    const answer = foldEvents([...decoder.push(Buffer.from(odd)), ...decoder.end()]);
    const identity = { id: 'gen-1', createdS: 1, model: 'acme/one', provider: 'Acme' };
    const finalUsage = { usage: NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };
    const format = createMessagesClientFormat({ plugin: z.never() });
    const message = JSON.parse(format.encodeWhole(answer, identity, finalUsage)) as { id: string; type: string };
    assert.deepEqual([message.id, message.type], ['gen-1', 'message']);
  });
});
