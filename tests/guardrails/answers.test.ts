import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isJsonObject } from '../../src/lib/json.ts';
import { readChatStream, readMessagesStream } from '../support/read-stream.ts';
import { ask as askTools, ASKINGS, nameOf, recordOf, startToolTurns } from '../support/tool-turns.ts';
import {
  chatAnswer,
  chatChunk,
  chatStream,
  json,
  messagesAnswer,
  messagesStream,
  sse,
  stream,
  type Script,
} from '../support/upstream.ts';
import { ask, setFilters, startFiltered, type FilteredGateway } from './filtered-gateway.ts';

const SAID = 'You reach her at ann@example.com or under (415) 555-2671 until noon.';
const CLEAN = 'You reach her at [EMAIL] or under [PHONE] until noon.';
const messages = [{ role: 'user', content: 'How do I reach Ann?' }];
const REDACT = {
  content_filter_builtins: [
    { slug: 'email', action: 'redact', scan_output: true },
    { slug: 'phone', action: 'redact', scan_output: true },
  ],
};
const BLOCK = { content_filters: [{ pattern: 'noon', action: 'block', label: 'TIME', scan_output: true }] };

/** Sends the second part once the first one has been read. */
function inTwo(text: string, at: number, isRead: Promise<void>): Script {
  return async (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = text.lastIndexOf('\n\n', at) + 2;
    response.write(text.slice(0, event));
    await isRead;
    response.end(text.slice(event));
  };
}

/** @param onText once something of the answer's text has come */
async function askStream({ gateway }: FilteredGateway, path: string, onText?: () => void): Promise<string> {
  const body = { model: 'acme/first', max_tokens: 50, stream: true, messages };
  const answer = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
  assert.equal(answer.status, 200);
  let raw = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    raw += chunk;
    if (raw.includes('All is well')) onText?.();
  }
  return raw;
}

/** Each upstream format under each caller's. */
const WAYS = [
  { path: '/chat/completions', adapter: 'openai-compatible', whole: chatAnswer, streamed: chatStream },
  { path: '/messages', adapter: 'openai-compatible', whole: chatAnswer, streamed: chatStream },
  { path: '/messages', adapter: 'messages-compatible', whole: messagesAnswer, streamed: messagesStream },
] as const;

suite('filters that look through answers', () => {
  for (const { path, adapter, whole, streamed } of WAYS) {
    const way = `${adapter} to ${path}`;
    test(`replace what they find in a whole answer (${way})`, async (t) => {
      const stage = await startFiltered(t, REDACT, { adapter, first: json(200, whole(SAID)) });
      const told = await ask(stage, path, { messages });
      assert.equal(told.status, 200, told.text);
      assert.ok(told.text.includes(CLEAN), told.text);
      assert.equal(told.stages[0]?.['summary'], 'Redacted: EMAIL, PHONE in the answer');
    });

    test(`replace what they find in a stream (${way})`, async (t) => {
      const stage = await startFiltered(t, REDACT, { adapter, first: stream(streamed(SAID)) });
      const raw = await askStream(stage, path);
      const { text } = path === '/messages' ? readMessagesStream(raw) : readChatStream(raw);
      assert.equal(text, CLEAN);
      assert.match(raw, /"summary":"Redacted: EMAIL, PHONE in the answer"/);
    });

    test(`block a whole answer with 403, which is paid for all the same (${way})`, async (t) => {
      const stage = await startFiltered(t, BLOCK, { adapter, first: json(200, whole(SAID)) });
      const told = await ask(stage, path, { messages });
      assert.equal(told.status, 403, told.text);
      assert.equal(told.error['message'], 'Answer blocked by content filter: TIME');
      assert.ok(!told.text.includes('ann@'), told.text);
      assert.equal(told.stages.length, 1);
    });

    test(`end a stream with the error, before what blocks it (${way})`, async (t) => {
      const said = streamed(`${'All is well so far. '.repeat(30)}It is noon.`);
      const read = Promise.withResolvers<void>();
      const stage = await startFiltered(t, BLOCK, { adapter, first: inTwo(said, said.indexOf('It '), read.promise) });
      const raw = await askStream(stage, path, read.resolve);
      const { text, error } = path === '/messages' ? readMessagesStream(raw) : readChatStream(raw);
      assert.match(text, /^All is well/);
      assert.ok(!text.includes('noon'), text);
      assert.deepEqual([error?.code, error?.message], [403, 'Answer blocked by content filter: TIME']);
    });
  }

  for (const asking of ASKINGS) {
    test(`charge what a blocked answer cost: ${nameOf(asking)}`, async (t) => {
      const turns = await startToolTurns(t, () => ({ text: `${'All is well. '.repeat(200)}It is noon.` }));
      await setFilters(turns.gateway, BLOCK);
      const { id } = await askTools(turns, asking, {});
      const { costNanoUsd, tokensPrompt, tokensCompletion, usageSource } = await recordOf(turns.gateway, id);
      assert.deepEqual([costNanoUsd, tokensPrompt, tokensCompletion, usageSource], [20_000, 10, 5, 'upstream']);
    });
  }

  test('cut an answer off that goes on, and charge what came of it', async (t) => {
    const said = `${'All is well. '.repeat(200)}It is noon.`;
    const goesOn: Script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([chatChunk({ role: 'assistant', content: said })]));
    };
    const turns = await startToolTurns(t, () => goesOn);
    await setFilters(turns.gateway, BLOCK);
    const told = await askTools(turns, { format: 'chat', model: 'acme/chat', stream: true }, {});
    assert.equal(told.error?.['code'], 403);
    const { tokensCompletion, usageSource } = await recordOf(turns.gateway, told.id);
    assert.deepEqual([tokensCompletion, usageSource], [Math.ceil(said.length / 4), 'estimated']);
  });

  test('leave answers alone unless they say that they look at them', async (t) => {
    const stage = await startFiltered(
      t,
      { content_filter_builtins: [{ slug: 'email', action: 'block' }] },
      { first: json(200, chatAnswer(SAID)) },
    );
    const told = await ask(stage, '/chat/completions', { messages });
    assert.deepEqual([told.status, told.stages], [200, []], told.text);
    assert.ok(told.text.includes('ann@example.com'));
  });

  test('clean arguments of tools and reasoning, and leave out what would spell the words again', async (t) => {
    const toolCalls = [
      { id: 'c1', type: 'function', function: { name: 'mail', arguments: '{"to":"ann@example.com","n":1.0}' } },
    ];
    const message = { role: 'assistant', content: null, reasoning: 'Ann is ann@example.com.', tool_calls: toolCalls };
    const stage = await startFiltered(t, REDACT, {
      first: json(200, { ...chatAnswer(''), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    });
    const tools = [{ type: 'function', function: { name: 'mail', parameters: { type: 'object' } } }];
    const told = await ask(stage, '/chat/completions', { messages, tools, logprobs: true });
    assert.equal(told.status, 200, told.text);
    assert.ok(!told.text.includes('@example.com'), told.text);
    assert.match(told.text, /\{\\"to\\":\\"\[EMAIL\]\\",\\"n\\":1\.0\}/);
    const sent = stage.first.arrived[0]?.body;
    assert.ok(isJsonObject(sent));
    assert.equal(sent['logprobs'], undefined);
  });
});
