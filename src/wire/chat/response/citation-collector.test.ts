import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeWhole } from './response-in.ts';
import { MessagesStreamEncoder } from '../../messages/response/stream-out.ts';
import {
  chunk,
  FINAL_USAGE,
  decodeStream,
  finish,
  foldStream,
  IDENTITY,
  stream,
} from '../../../../tests/support/wire/chat/streams.ts';

const note = (url: string): JsonObject => ({
  type: 'url_citation',
  url_citation: { url, title: url, start_index: 0, end_index: 0 },
});
const urlsOf = (response: ReturnType<typeof foldStream>): readonly (readonly string[])[] => {
  const texts = response.blocks.flatMap((block) => (block.type === 'text' ? [block.citations ?? []] : []));
  return [response.citations.map(({ citation }) => citation), ...texts].map((list) =>
    list.flatMap((source) => (source.type === 'url' ? [source.url] : [])),
  );
};

const RESULTS = [
  { title: 'One', url: 'https://one.example/', snippet: 'the first', date: '2026-01-01' },
  { title: 'Two', url: 'https://two.example/' },
  { title: 'Nowhere' },
];

suite('sources of a chat response', () => {
  test('belong to the text that they come before', () => {
    const response = foldStream(
      chunk({ role: 'assistant', content: '', annotations: [note('a')] }),
      chunk({ annotations: [note('b')] }),
      chunk({ content: 'So' }),
      chunk({ content: ' it is.', annotations: [note('c')] }),
      finish('stop'),
    );
    assert.deepEqual(urlsOf(response), [[], ['a', 'b', 'c']]);
  });

  test('reach a messages caller in a stream', () => {
    const events = decodeStream(stream(chunk({ annotations: [note('a')] }), chunk({ content: 'So.' }), finish('stop')));
    checkEvents(events);
    const encoder = new MessagesStreamEncoder(IDENTITY);
    const frames = encoder.encode(events) + encoder.close(FINAL_USAGE);
    assert.match(frames, /"citations_delta","citation":\{"type":"web_search_result_location".*"url":"a"/);
  });

  test('belong to all of a response without text', () => {
    const response = foldStream(chunk({ annotations: [note('a')] }), finish('stop'));
    assert.deepEqual(urlsOf(response), [['a']]);
  });

  test('are not lost beside a call or after the end', () => {
    const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };
    const response = foldStream(
      chunk({ content: 'So.', tool_calls: [call], annotations: [note('a')] }),
      finish('tool_calls'),
      chunk({ content: 'late', annotations: [note('b')] }),
    );
    assert.deepEqual(urlsOf(response), [['b'], ['a']]);
  });

  test('are reported once when every chunk lists them beside the choices', () => {
    const members = { search_results: RESULTS, citations: ['https://one.example/', 'https://two.example/'] };
    const events = [
      chunk({ content: '1' }, {}, members),
      chunk({ content: ' 2' }, {}, members),
      finish('stop', members),
      { ...chunk({}, {}, members), choices: [] },
    ];
    const response = foldStream(...events);
    const [block] = response.blocks;
    assert.deepEqual(block?.type === 'text' && block.citations, [
      { type: 'url', url: 'https://one.example/', title: 'One', excerpt: 'the first' },
      { type: 'url', url: 'https://two.example/', title: 'Two' },
    ]);
    assert.deepEqual(response.citations, []);
    assert.deepEqual(response.extras[0]?.fields['search_results'], RESULTS, 'what the upstream sent travels on');
  });

  test('may be listed by address alone, and as late as after the end', () => {
    const late = { ...finish('stop', { citations: ['https://one.example/', 7] }), choices: [] };
    const response = foldStream(chunk({ content: '1' }), finish('stop'), late);
    assert.deepEqual(urlsOf(response), [['https://one.example/'], []]);
  });

  test('add nothing when they are listed beside annotations', () => {
    const response = foldStream(
      chunk({ content: '1', annotations: [note('a')] }, {}, { citations: ['a'] }),
      finish('stop', { citations: ['a'] }),
    );
    assert.deepEqual(urlsOf(response), [[], ['a']]);
  });

  test('are the same in a whole response', () => {
    const message = { role: 'assistant', content: 'So.', annotations: [note('a')] };
    const whole = { id: 'up-1', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    assert.deepEqual(urlsOf(foldEvents(decodeWhole(JSON.stringify(whole)))), [[], ['a']]);
    const listed = {
      ...whole,
      choices: [{ index: 0, message: { content: 'So.' }, finish_reason: 'stop' }],
      search_results: RESULTS,
    };
    assert.deepEqual(urlsOf(foldEvents(decodeWhole(JSON.stringify(listed)))), [
      [],
      ['https://one.example/', 'https://two.example/'],
    ]);
  });

  test('do not fill the memory', () => {
    const flood = Array.from({ length: 30 }, () =>
      chunk({ annotations: Array.from({ length: 100 }, () => note('a')) }),
    );
    assert.equal(foldStream(...flood, finish('stop')).citations.length, 1_000);
  });
});
