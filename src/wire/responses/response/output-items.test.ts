import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import {
  added,
  call,
  callsOf,
  cited,
  completed,
  CREATED,
  decodeStream,
  done,
  foldStream,
  linesOf,
  message,
  outputText,
  stated,
  stream,
  thought,
} from '../../../../tests/support/wire/responses/streams.ts';

/** What a response of these items, each given when it is done, comes to. */
function fold(...items: readonly JsonObject[]) {
  return foldStream([CREATED, ...items.map((item, at) => done(at, item)), completed(items)]);
}

suite('calls of the caller', () => {
  test('wraps the free text of a call in JSON, escaped, piece by piece', () => {
    const text = 'SELECT "a\\b"\nFROM 🐘';
    const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'sql', input: text };
    const delta = (piece: string): JsonObject => ({
      type: 'response.custom_tool_call_input.delta',
      output_index: 0,
      delta: piece,
    });
    const pieces = [added(0, { ...item, input: '' }), delta('SELECT "a\\b"'), delta('\nFROM 🐘'), done(0, item)];
    const answer = foldStream([CREATED, ...pieces, completed([item])]);
    const [block] = answer.blocks;
    assert.ok(block?.type === 'tool-call' && block.runBy === 'caller');
    assert.deepEqual(JSON.parse(block.input), { input: text });
    assert.deepEqual(fold(item).blocks, answer.blocks);
    assert.equal(answer.end?.finish, 'tool_calls');
  });

  test('a call with free text is the upstream’s own on a host that has such tools', () => {
    const item = { type: 'custom_tool_call', id: 'i', call_id: 'c', name: 'x_keyword_search', input: '{"query":"ai"}' };
    const answer = foldStream([CREATED, done(0, item), completed([item])], { runsCustomTools: true });
    assert.deepEqual(callsOf(answer), ['ran c x_keyword_search({"input":"{\\"query\\":\\"ai\\"}"})']);
    assert.equal(answer.end?.finish, 'stop');
  });

  test('a search among tools is the caller’s where the item says so', () => {
    const item = {
      type: 'tool_search_call',
      id: 'ts',
      call_id: 'c',
      execution: 'client',
      arguments: { queries: ['weather'], limit: 3 },
    };
    assert.deepEqual(callsOf(fold(item)), ['c tool_search({"queries":["weather"],"limit":3})']);
    assert.deepEqual(callsOf(fold({ ...item, execution: 'server', call_id: null })), [
      'ran ts tool_search({"queries":["weather"],"limit":3})',
    ]);
  });

  test('keeps members of a call that other formats do not have', () => {
    const [block] = fold(call('a', 'f', '{}', { caller: 'crm' })).blocks;
    assert.deepEqual(block?.extra, { format: 'responses', fields: { caller: 'crm' } });
  });

  test('decodes a call without arguments to empty ones', () => {
    assert.deepEqual(callsOf(fold(call('a', 'f', ''))), ['a f()']);
  });
});

suite('tools of the upstream', () => {
  for (const [item, expected] of [
    [
      { type: 'file_search_call', id: 'fs', queries: ['tides'], results: null },
      'ran fs file_search({"queries":["tides"]})',
    ],
    [
      { type: 'web_search_call', id: 'ws', action: { type: 'open_page', url: 'https://a.test/' } },
      'ran ws web_search({"type":"open_page","url":"https://a.test/"})',
    ],
    [{ type: 'web_search_call', id: 'ws', status: 'completed' }, 'ran ws web_search({})'],
    [
      { type: 'mcp_call', id: 'mcp', name: 'roll', server_label: 'dice', arguments: '{"n": 2.0}', output: '7' },
      'ran mcp roll({"n": 2.0})',
    ],
    [
      { type: 'code_interpreter_call', id: 'ci', code: 'print("hi")\n', container_id: 'cn', outputs: [] },
      'ran ci code_interpreter({"code":"print(\\"hi\\")\\n"})',
    ],
    [
      { type: 'x_search_call', id: 'xs', arguments: { query: 'ai' }, status: 'completed' },
      'ran xs x_search({"query":"ai"})',
    ],
    [
      { type: 'fetch_url_results', id: 'fu', contents: [{ url: 'https://a.test/', snippet: 'A' }] },
      'ran fu web_fetch({"urls":["https://a.test/"]})',
    ],
  ] as const satisfies readonly (readonly [JsonObject, string])[]) {
    test(`${item.type} is shown as a call that has been run, and carries all that it was`, () => {
      const answer = fold(item);
      assert.deepEqual(callsOf(answer), [expected]);
      assert.equal(answer.end?.finish, 'stop');
      const filled = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
      const fields = Object.fromEntries(
        Object.entries(answer.blocks[0]?.extra?.fields ?? {}).filter(([, value]) => value !== null),
      );
      assert.deepEqual(fields, filled);
    });
  }

  test('code comes piece by piece', () => {
    const delta = (piece: string): JsonObject => ({
      type: 'response.code_interpreter_call_code.delta',
      output_index: 0,
      delta: piece,
    });
    const item = { type: 'code_interpreter_call', id: 'ci', code: 'a = "b"\nc' };
    const events = [
      CREATED,
      added(0, { ...item, code: null }),
      delta('a = '),
      delta('"b"\nc'),
      done(0, item),
      completed(),
    ];
    assert.deepEqual(callsOf(foldStream(events)), ['ran ci code_interpreter({"code":"a = \\"b\\"\\nc"})']);
  });

  test('keeps the numbers of a search input as written', () => {
    const item = '{"type":"tool_search_call","id":"t","arguments":{"limit":1.0,"id":12345678901234567890}}';
    const bytes = Buffer.from(
      `data: {"type":"response.output_item.done","output_index":0,"item":${item}}\n\n` +
        'data: {"type":"response.completed","response":{"output":[]}}\n\n',
    );
    const [, start, delta] = decodeStream(bytes);
    assert.ok(start?.type === 'block-start' && delta?.type === 'block-delta');
    assert.equal(delta.text, '{"limit":1.0,"id":12345678901234567890}');
  });

  for (const type of ['mcp_list_tools', 'tool_search_output', 'compaction'] as const) {
    test(`${type} tells nothing of the response and is kept for this format alone`, () => {
      const item = { type, id: 'x', tools: [] };
      const answer = fold(item, message('m', outputText('Hi.')));
      assert.deepEqual(linesOf(answer), ['opaque', 'text: Hi.']);
      assert.deepEqual(answer.warnings, []);
    });
  }
});

suite('pictures', () => {
  test('warns of an image that was not generated', () => {
    const answer = fold({ type: 'image_generation_call', id: 'ig', status: 'failed', result: null });
    assert.deepEqual(answer.blocks, []);
    assert.match(answer.warnings[0]?.message ?? '', /picture/);
  });

  test('is a PNG unless the item says otherwise, and may be an address', () => {
    const sourceOf = (result: string) => {
      const [block] = fold({ type: 'image_generation_call', id: 'ig', status: 'completed', result }).blocks;
      return block?.type === 'media' ? block.source : undefined;
    };
    assert.deepEqual(sourceOf('aVZC'), { type: 'base64', mediaType: 'image/png', data: 'aVZC' });
    assert.deepEqual(sourceOf('https://a.test/b.png'), { type: 'url', url: 'https://a.test/b.png' });
  });
});

suite('text and what belongs to it', () => {
  const log = { token: 'Hi', logprob: -0.25, top_logprobs: [{ token: 'Ho', logprob: -2 }] };

  test('decodes log probabilities to the shape of the chat format, and only once', () => {
    const events = [
      CREATED,
      stated(0, 'Hi', { logprobs: [log] }),
      { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hi', logprobs: [log] },
      done(0, message('m', outputText('Hi', { logprobs: [log] }))),
      completed(),
    ];
    const [block] = foldStream(events).blocks;
    const top = [{ token: 'Ho', logprob: -2, bytes: null }];
    const content = [{ token: 'Hi', logprob: -0.25, bytes: null, top_logprobs: top }];
    assert.deepEqual(block?.extra, { format: 'chat', fields: { choices: { logprobs: { content } } } });
    const [whole] = fold(message('m', outputText('Hi', { logprobs: [log] }))).blocks;
    assert.deepEqual(whole, block);
  });

  test('citations that came as events are not given again with the text', () => {
    const link = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 2 };
    const late = { type: 'url_citation', url: 'https://b.test/', title: 'B', start_index: 0, end_index: 2 };
    const item = message('m', outputText('Hi', { annotations: [link, late] }));
    const [block] = foldStream([CREATED, stated(0, 'Hi'), cited(0, link), done(0, item), completed([item])]).blocks;
    assert.ok(block?.type === 'text');
    assert.deepEqual(
      block.citations?.map((citation) => citation.type === 'url' && citation.url),
      ['https://a.test/', 'https://b.test/'],
    );
  });

  test('emits a citation that comes before its text with the text', () => {
    const link = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 2 };
    const item = message('m', outputText('Hi', { annotations: [link] }));
    const [block] = foldStream([
      CREATED,
      added(0, message('m')),
      cited(0, link),
      stated(0, 'Hi'),
      done(0, item),
      completed(),
    ]).blocks;
    assert.ok(block?.type === 'text');
    assert.equal(block.citations?.length, 1);
  });

  for (const [when, between, expected] of [
    ['still belongs to it', [], 'of the text'],
    ['belongs to the answer when something else has begun', [stated(1, 'More.')], 'of the answer'],
  ] as const) {
    test(`a citation that comes after its text is done ${when}`, () => {
      const link = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 2 };
      const answer = foldStream([
        CREATED,
        stated(0, 'Hi'),
        { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hi' },
        ...between,
        cited(0, link),
        completed(),
      ]);
      const [block] = answer.blocks;
      assert.ok(block?.type === 'text');
      const found = {
        'of the text': block.citations ?? [],
        'of the answer': answer.citations.map((of) => of.citation),
      };
      const citation = { type: 'url', url: 'https://a.test/', title: 'A', start: 0, end: 2 };
      assert.deepEqual(found, { 'of the text': [], 'of the answer': [], [expected]: [citation] });
    });
  }

  test('keeps a citation of a file in the vendor’s store', () => {
    const file = {
      type: 'container_file_citation',
      container_id: 'cn',
      file_id: 'f',
      filename: 'a.csv',
      start_index: 0,
      end_index: 2,
    };
    const [block] = fold(message('m', outputText('Hi', { annotations: [file] }))).blocks;
    assert.ok(block?.type === 'text');
    assert.deepEqual(block.citations, [{ type: 'opaque', format: 'responses', value: file }]);
  });

  for (const start_index of [-1, 1.5, '3', null] as const satisfies readonly Json[]) {
    test(`${JSON.stringify(start_index)} is no offset`, () => {
      const annotation = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index, end_index: 2 };
      const [block] = fold(message('m', outputText('Hi', { annotations: [annotation] }))).blocks;
      assert.ok(block?.type === 'text');
      const [citation] = block.citations ?? [];
      assert.ok(citation?.type === 'url');
      assert.deepEqual([citation.start, citation.end], [undefined, 2]);
    });
  }

  test('keeps the phase of a message', () => {
    const [block] = fold({ ...message('m', outputText('Hm.')), phase: 'commentary' }).blocks;
    assert.deepEqual(block?.extra, { format: 'responses', fields: { phase: 'commentary' } });
  });

  test('texts with a search between them are apart, and offsets count as a chat caller sees them', () => {
    const link = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 5 };
    const answer = fold(
      message('a', outputText('Let me look.')),
      { type: 'web_search_call', id: 'ws', action: { type: 'search', query: 'x' } },
      message('b', outputText('Found.', { annotations: [link] })),
    );
    const [, , block] = answer.blocks;
    assert.ok(block?.type === 'text');
    const [citation] = block.citations ?? [];
    assert.ok(citation?.type === 'url');
    assert.equal('Let me look.\n\nFound.'.slice(citation.start, citation.end), 'Found');
  });
});

suite('reasoning', () => {
  test('readable reasoning comes in pieces, its summary and its seal too, all under one id', () => {
    const item = {
      type: 'reasoning',
      id: 'rs',
      summary: [{ type: 'summary_text', text: 'In short.' }],
      content: [{ type: 'reasoning_text', text: 'At length.' }],
      encrypted_content: 'sealed',
    };
    const answer = foldStream([
      CREATED,
      added(0, { type: 'reasoning', id: 'rs' }),
      thought(0, 'At '),
      thought(0, 'length.'),
      done(0, item),
      completed(),
    ]);
    assert.deepEqual(linesOf(answer), ['text: At length.', 'summary: In short.', 'encrypted: sealed']);
    assert.ok(answer.blocks.every((block) => block.type === 'reasoning' && block.id === 'rs'));
  });

  test('bears the family of its vendor', () => {
    const item = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'sealed' };
    const [block] = foldStream([CREATED, done(0, item), completed()], { reasoningFamily: 'xai-responses-v1' }).blocks;
    assert.ok(block?.type === 'reasoning');
    assert.equal(block.family, 'xai-responses-v1');
  });

  test('takes the seal from the end of the item, not from its beginning', () => {
    const events = stream([CREATED, added(0, { type: 'reasoning', id: 'rs', encrypted_content: 'early' })]);
    const end = stream([done(0, { type: 'reasoning', id: 'rs', encrypted_content: 'late' }), completed()]);
    const sealed = decodeStream(Buffer.concat([events, end])).filter((event) => event.type === 'block-start');
    assert.deepEqual(
      sealed.map(({ block }) => block.type === 'reasoning' && block.text),
      ['late'],
    );
  });

  test('nothing to read and nothing sealed is no block', () => {
    assert.deepEqual(fold({ type: 'reasoning', id: 'rs', summary: [] }).blocks, []);
  });
});
