import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isJsonObject } from '../../src/lib/json.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
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

const STATED = 'You reach her at ann@example.com or under (415) 555-2671 until noon.';
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

suite('filters for responses', () => {
  for (const { path, adapter, whole, streamed } of WAYS) {
    const way = `${adapter} to ${path}`;
    test(`redact a response that is not streamed (${way})`, async (t) => {
      const stage = await startFiltered(t, REDACT, { adapter, first: json(200, whole(STATED)) });
      const reported = await ask(stage, path, { messages });
      assert.equal(reported.status, 200, reported.text);
      assert.ok(reported.text.includes(CLEAN), reported.text);
      assert.equal(reported.stages[0]?.['summary'], 'Redacted: EMAIL, PHONE in the answer');
    });

    test(`redact a stream (${way})`, async (t) => {
      const stage = await startFiltered(t, REDACT, { adapter, first: stream(streamed(STATED)) });
      const raw = await askStream(stage, path);
      const { text } = path === '/messages' ? readMessagesStream(raw) : readChatStream(raw);
      assert.equal(text, CLEAN);
      assert.match(raw, /"summary":"Redacted: EMAIL, PHONE in the answer"/);
    });

    // @spec filter-12
    test(`block a response with 403, which is charged (${way})`, async (t) => {
      const stage = await startFiltered(t, BLOCK, { adapter, first: json(200, whole(STATED)) });
      const reported = await ask(stage, path, { messages });
      assert.equal(reported.status, 403, reported.text);
      assert.equal(reported.error['message'], 'Response blocked by content filter: TIME');
      assert.ok(!reported.text.includes('ann@'), reported.text);
      assert.equal(reported.stages.length, 1);
    });

    // @spec filter-12
    test(`end a stream with the error before the match (${way})`, async (t) => {
      const stated = streamed(`${'All is well so far. '.repeat(30)}It is noon.`);
      const read = Promise.withResolvers<void>();
      const stage = await startFiltered(t, BLOCK, {
        adapter,
        first: inTwo(stated, stated.indexOf('It '), read.promise),
      });
      const raw = await askStream(stage, path, read.resolve);
      const { text, error } = path === '/messages' ? readMessagesStream(raw) : readChatStream(raw);
      assert.match(text, /^All is well/);
      assert.ok(!text.includes('noon'), text);
      assert.deepEqual([error?.code, error?.message], [403, 'Response blocked by content filter: TIME']);
    });
  }

  for (const asking of ASKINGS) {
    // @spec money-16
    test(`charge the cost of a blocked response: ${nameOf(asking)}`, async (t) => {
      const turns = await startToolTurns(t, () => ({ text: `${'All is well. '.repeat(200)}It is noon.` }));
      await setFilters(turns.gateway, BLOCK);
      const { id } = await askTools(turns, asking, {});
      const { costNanoUsd, tokensPrompt, tokensCompletion, usageSource } = await recordOf(turns.gateway, id);
      assert.deepEqual([costNanoUsd, tokensPrompt, tokensCompletion, usageSource], [20_000, 10, 5, 'upstream']);
    });
  }

  test('cut off a response that continues, and charge what came', async (t) => {
    const stated = `${'All is well. '.repeat(200)}It is noon.`;
    const goesOn: Script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([chatChunk({ role: 'assistant', content: stated })]));
    };
    const turns = await startToolTurns(t, () => goesOn);
    await setFilters(turns.gateway, BLOCK);
    const reported = await askTools(turns, { format: 'chat', model: 'acme/chat', stream: true }, {});
    assert.equal(reported.error?.['code'], 403);
    const { tokensCompletion, usageSource } = await recordOf(turns.gateway, reported.id);
    assert.deepEqual([tokensCompletion, usageSource], [Math.ceil(stated.length / 4), 'estimated']);
  });

  const KEY = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(60)}-----END PRIVATE KEY-----`;
  const PEM = {
    pattern: String.raw`-----BEGIN [A-Z ]*KEY-----[\s\S]*?-----END [A-Z ]*KEY-----`,
    label: 'KEY',
    scan_output: true,
  };
  for (const { path, adapter } of WAYS) {
    const isChat = adapter === 'openai-compatible';
    const finely = (text: string): Script => {
      const pieces = text.match(/[^]{1,20}/g) ?? [];
      if (isChat)
        return stream(sse([...pieces.map((content) => chatChunk({ content })), chatChunk({}, 'stop'), '[DONE]']));
      const [head = '', tail = ''] = messagesStream('@').split(/event: content_block_delta\n.*\n\n/);
      const deltas = pieces.map((piece) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: piece },
      }));
      return stream(head + sse(deltas, { named: true }) + tail);
    };
    const readText = (raw: string) => (path === '/messages' ? readMessagesStream(raw) : readChatStream(raw));

    // @spec filter-13
    test(`block a match longer than the window, however finely it is cut (${adapter} to ${path})`, async (t) => {
      const stage = await startFiltered(
        t,
        { content_filters: [{ ...PEM, action: 'block' }] },
        { adapter, first: finely(`Here: ${KEY} there.`) },
      );
      const { text, error } = readText(await askStream(stage, path));
      assert.deepEqual([text, error?.code, error?.message], ['', 403, 'Response blocked by content filter: KEY']);
    });

    test(`redact all of such a match, and let the rest through (${adapter} to ${path})`, async (t) => {
      const stage = await startFiltered(
        t,
        { content_filters: [{ ...PEM, action: 'redact' }] },
        { adapter, first: finely(`Here: ${KEY} there.`) },
      );
      assert.equal(readText(await askStream(stage, path)).text, 'Here: KEY there.');
    });
  }

  test('redact all of a match without an end', async (t) => {
    const filter = { pattern: 'project-\\d+', action: 'redact', label: 'P', scan_output: true };
    const pieces = ['Of project-', ...Array.from({ length: 500 }, () => '1234567890'), ' and more.'];
    const script = stream(sse([...pieces.map((content) => chatChunk({ content })), chatChunk({}, 'stop'), '[DONE]']));
    const stage = await startFiltered(t, { content_filters: [filter] }, { first: script });
    assert.equal(readChatStream(await askStream(stage, '/chat/completions')).text, 'Of P and more.');
  });

  test('refuse a text that exceeds the buffer', async (t) => {
    // It does not end: a text that has come to its end is looked through as a whole.
    const script: Script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(Array.from({ length: 300 }, () => chatChunk({ content: 'word '.repeat(200) }))));
    };
    const stage = await startFiltered(t, { content_filters: [{ ...PEM, action: 'block' }] }, { first: script });
    const { text, error } = readChatStream(await askStream(stage, '/chat/completions'));
    assert.deepEqual([text, error?.code], ['', 403]);
    assert.match(error?.message ?? '', /KEY, whose match may be longer than the 262144 characters/);
  });

  // @spec filter-11
  test('ignore responses without scan_output', async (t) => {
    const stage = await startFiltered(
      t,
      { content_filter_builtins: [{ slug: 'email', action: 'block' }] },
      { first: json(200, chatAnswer(STATED)) },
    );
    const reported = await ask(stage, '/chat/completions', { messages });
    assert.deepEqual([reported.status, reported.stages], [200, []], reported.text);
    assert.ok(reported.text.includes('ann@example.com'));
  });

  test('redact tool arguments and reasoning, and remove fields that repeat the words', async (t) => {
    const toolCalls = [
      { id: 'c1', type: 'function', function: { name: 'mail', arguments: '{"to":"ann@example.com","n":1.0}' } },
    ];
    const message = { role: 'assistant', content: null, reasoning: 'Ann is ann@example.com.', tool_calls: toolCalls };
    const stage = await startFiltered(t, REDACT, {
      first: json(200, { ...chatAnswer(''), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    });
    const tools = [{ type: 'function', function: { name: 'mail', parameters: { type: 'object' } } }];
    const reported = await ask(stage, '/chat/completions', { messages, tools, logprobs: true });
    assert.equal(reported.status, 200, reported.text);
    assert.ok(!reported.text.includes('@example.com'), reported.text);
    assert.match(reported.text, /\{\\"to\\":\\"\[EMAIL\]\\",\\"n\\":1\.0\}/);
    const sent = stage.first.arrived[0]?.body;
    assert.ok(isJsonObject(sent));
    assert.equal(sent['logprobs'], undefined);
  });
});
