import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { createStreamDecoder } from './stream-in.ts';
import {
  added,
  argued,
  call,
  callsOf,
  cited,
  completed,
  CREATED,
  decodeStream,
  done,
  DRAWS_AND_REFUSES,
  foldStream,
  linesOf,
  message,
  outputText,
  response,
  stated,
  SEARCHES_AND_CITES,
  stream,
  summaries,
  summed,
  THINKS_AND_CALLS,
  thought,
} from '../../../../tests/support/wire/responses/streams.ts';

suite('deltas that differ in nothing but their text', () => {
  const numbered = (events: readonly JsonObject[]): readonly JsonObject[] =>
    events.map((event, at) => ({ sequence_number: at, ...event, logprobs: [], obfuscation: 'x'.repeat(at % 5) }));

  test('go to the part that they name, whatever stands between them', () => {
    const other = { content_index: 1 };
    const events = numbered([
      CREATED,
      added(0, message('msg_1')),
      ...['a', 'b', 'c "d"\n'].map((text) => stated(0, text)),
      ...['1', '2', '3'].map((text) => stated(0, text, other)),
      ...['4', '5'].map((text) => stated(0, text, other)),
      done(0, message('msg_1', outputText('abc "d"\n'), outputText('12345'))),
      completed(),
    ]);
    const answer = foldStream(events);
    assert.deepEqual(
      answer.blocks.map((block) => block.type === 'text' && block.text),
      ['abc "d"\n', '12345'],
    );
    assert.deepEqual(answer.warnings, []);
  });

  test('keep log probabilities that come with one of them', () => {
    const logprobs = [{ token: 'b', logprob: -1, bytes: [98], top_logprobs: [] }];
    const deltas = [stated(0, 'a'), stated(0, 'b', { logprobs }), stated(0, 'c')];
    const answer = foldStream([CREATED, added(0, message('msg_1')), ...deltas, completed()]);
    assert.equal(JSON.stringify(answer).match(/"logprob":-1/g)?.length, 1);
  });
});

suite('a stream as the vendor sends it', () => {
  test('thinks in paragraphs, seals them, and calls side by side with its arguments byte for byte', () => {
    const answer = foldStream(THINKS_AND_CALLS);
    const reasoning = { type: 'reasoning', family: 'openai-responses-v1', id: 'rs_1' };
    assert.deepEqual(answer.blocks, [
      { ...reasoning, form: 'summary', text: '**Weather** first.' },
      { ...reasoning, form: 'summary', text: '**Time** next — 🕐.' },
      { ...reasoning, form: 'encrypted', text: 'gAAAA-sealed' },
      { type: 'tool-call', id: 'call_a', name: 'weather', input: '{"city": "Berlin", "days": 1.0}', runBy: 'caller' },
      {
        type: 'tool-call',
        id: 'call_b',
        name: 'now',
        input: '{"zone":"Asia/Tōkyō","id":12345678901234567890}',
        runBy: 'caller',
      },
    ]);
    assert.deepEqual([answer.id, answer.model, answer.format], ['resp_1', 'gpt-5.4', 'responses']);
    assert.deepEqual(answer.end, { type: 'end', finish: 'tool_calls', nativeFinish: 'completed' });
    assert.deepEqual(answer.warnings, []);
  });

  test('tells what it used', () => {
    assert.deepEqual(foldStream(THINKS_AND_CALLS).usage, {
      promptTokens: 120,
      completionTokens: 45,
      cacheReadTokens: 64,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      reasoningTokens: 20,
      estimated: false,
    });
  });

  // @spec chat-response-12
  test('shows a search of its own as a call that the caller does not run, and counts it', () => {
    const answer = foldStream(SEARCHES_AND_CITES);
    assert.deepEqual(callsOf(answer), ['ran ws_1 web_search({"type":"search","query":"tides"})']);
    assert.equal(answer.usage?.webSearchRequests, 1);
    assert.equal(answer.end?.finish, 'stop');
  });

  test('counts offsets of citations in the text of the whole response', () => {
    const [, first, second] = foldStream(SEARCHES_AND_CITES).blocks;
    assert.ok(first?.type === 'text' && second?.type === 'text');
    const text = first.text + second.text;
    const cutOut = [...(first.citations ?? []), ...(second.citations ?? [])].map((citation) =>
      citation.type === 'url' ? text.slice(citation.start, citation.end) : '',
    );
    assert.deepEqual(cutOut, ['Mond', 'Sonne']);
  });

  test('gives the finished picture alone, and a refusal as one', () => {
    const answer = foldStream(DRAWS_AND_REFUSES);
    const [picture, refusal] = answer.blocks;
    assert.ok(picture?.type === 'media');
    assert.deepEqual(picture.source, { type: 'base64', mediaType: 'image/webp', data: 'aVZCT1I=' });
    assert.deepEqual(refusal, { type: 'refusal', text: 'No second one.' });
    assert.equal(answer.end?.finish, 'content_filter');
    assert.deepEqual(answer.warnings, []);
  });

  for (const [name, events] of Object.entries({ THINKS_AND_CALLS, SEARCHES_AND_CITES, DRAWS_AND_REFUSES })) {
    test(`says the same wherever its bytes are cut: ${name}`, () => {
      const bytes = stream(events);
      const whole = decodeStream(bytes);
      for (let cut = 1; cut < bytes.length; cut++) assert.deepEqual(decodeStream(bytes, [cut]), whole);
      const everywhere = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
      assert.deepEqual(decodeStream(bytes, everywhere), whole);
    });
  }

  test('gives all events of one read at once', () => {
    const decoder = createStreamDecoder();
    const events = decoder.push(stream(THINKS_AND_CALLS));
    assert.equal(events.at(-1)?.type, 'end');
    assert.deepEqual(decoder.end(), []);
  });

  test('shows text as it comes, not when its item is done', () => {
    const decoder = createStreamDecoder();
    decoder.push(stream([CREATED, added(0, message('m'))]));
    const [start, delta] = decoder.push(stream([stated(0, 'Hel')]));
    assert.equal(start?.type, 'block-start');
    assert.ok(delta?.type === 'block-delta' && delta.text === 'Hel');
  });
});

suite('items side by side', () => {
  test('a text waits for the text before it', () => {
    const answer = foldStream([
      CREATED,
      stated(0, 'One '),
      stated(1, 'Two '),
      stated(0, 'one.'),
      stated(1, 'two.'),
      done(1, message('b', outputText('Two two.'))),
      done(0, message('a', outputText('One one.'))),
      completed(),
    ]);
    assert.deepEqual(linesOf(answer), ['text: One one.', 'text: Two two.']);
  });

  test('a call waits for the text before it, with all of its arguments', () => {
    const answer = foldStream([
      CREATED,
      stated(0, 'Look'),
      added(1, call('a', 'look', '')),
      argued(1, '{"at":'),
      stated(0, 'ing.'),
      argued(1, '"it"}'),
      done(1, call('a', 'look', '{"at":"it"}')),
      done(0, message('m', outputText('Looking.'))),
      completed(),
    ]);
    assert.deepEqual(linesOf(answer), ['text: Looking.', 'tool-call']);
    assert.deepEqual(callsOf(answer), ['a look({"at":"it"})']);
  });

  test('text does not wait for reasoning whose end comes late', () => {
    const decoder = createStreamDecoder();
    decoder.push(stream([CREATED, thought(0, 'Hm. ')]));
    const early = decoder.push(stream([stated(1, 'Four')]));
    assert.ok(early.some((event) => event.type === 'block-delta' && event.text === 'Four'));
    const rest = [
      done(1, message('m', outputText('Four'))),
      done(0, { type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: 'Hm. ' }] }),
      completed(),
    ];
    assert.deepEqual(
      decoder.push(stream(rest)).map(({ type }) => type),
      ['block-end', 'usage', 'end'],
    );
  });

  test('a citation that comes while its text waits stays with it', () => {
    const link = { type: 'url_citation', url: 'https://b.test/', title: 'B', start_index: 0, end_index: 3 };
    const answer = foldStream([
      CREATED,
      stated(0, 'One.'),
      stated(1, 'Two.'),
      cited(1, link),
      done(0, message('a', outputText('One.'))),
      done(1, message('b', outputText('Two.', { annotations: [link] }))),
      completed(),
    ]);
    const [, second] = answer.blocks;
    assert.ok(second?.type === 'text');
    assert.deepEqual(second.citations, [{ type: 'url', url: 'https://b.test/', title: 'B', start: 4, end: 7 }]);
  });
});

suite('hosts that leave events out', () => {
  const output = [summaries('rs', ['Think.'], 'sealed'), message('m', outputText('Hi.')), call('a', 'f', '{"x":1}')];
  const whole = foldStream([CREATED, completed(output)]);

  test('everything is in the last event', () => {
    assert.deepEqual(linesOf(whole), ['summary: Think.', 'encrypted: sealed', 'text: Hi.', 'tool-call']);
    assert.deepEqual(callsOf(whole), ['a f({"x":1})']);
  });

  test('items are only given when they are done', () => {
    assert.deepEqual(foldStream([CREATED, ...output.map((item, at) => done(at, item)), completed()]), whole);
  });

  test('items are given when they are done, and again at the end', () => {
    assert.deepEqual(foldStream([CREATED, ...output.map((item, at) => done(at, item)), completed(output)]), whole);
  });

  test('texts are only given when they are done', () => {
    const events = [
      CREATED,
      {
        type: 'response.reasoning_summary_text.done',
        output_index: 0,
        item_id: 'rs',
        summary_index: 0,
        text: 'Think.',
      },
      done(0, summaries('rs', [], 'sealed')),
      { type: 'response.output_text.done', output_index: 1, item_id: 'm', content_index: 0, text: 'Hi.' },
      added(2, call('a', 'f', '')),
      { type: 'response.function_call_arguments.done', output_index: 2, arguments: '{"x":1}' },
      completed(output),
    ];
    assert.deepEqual(foldStream(events), whole);
  });

  test('a done event completes the deltas before it', () => {
    const events = [CREATED, stated(0, 'Hi'), done(0, message('m', outputText('Hi there.'))), completed()];
    assert.deepEqual(linesOf(foldStream(events)), ['text: Hi there.']);
  });

  test('a done event that contradicts its deltas changes nothing: they have been sent', () => {
    const events = [CREATED, stated(0, 'Hi'), done(0, message('m', outputText('Bye.'))), completed()];
    assert.deepEqual(linesOf(foldStream(events)), ['text: Hi']);
  });

  test('items without their openings', () => {
    const events = [CREATED, summed(0, 0, 'Think.'), stated(1, 'Hi'), stated(1, '.'), completed()];
    assert.deepEqual(linesOf(foldStream(events)), ['summary: Think.', 'text: Hi.']);
  });

  test('the name of a call comes at its end', () => {
    const events = [
      CREATED,
      added(0, { type: 'function_call', call_id: 'a', arguments: '' }),
      argued(0, '{"x":'),
      argued(0, '1}'),
      done(0, call('a', 'f', '{"x":1}')),
      completed(),
    ];
    assert.deepEqual(callsOf(foldStream(events)), ['a f({"x":1})']);
  });

  test('a call that never gets a name is left out with a warning', () => {
    const answer = foldStream([CREATED, argued(0, '{}'), done(0, call('a', '', '{}')), completed()]);
    assert.deepEqual(answer.blocks, []);
    assert.match(answer.warnings[0]?.message ?? '', /without a name/);
  });

  test('a call without any id gets one', () => {
    const events = [CREATED, done(0, { type: 'function_call', name: 'f', arguments: '{}' }), completed()];
    assert.match(callsOf(foldStream(events))[0] ?? '', /^call_\w{24} f\(\{\}\)$/);
  });

  test('arguments that come as an object keep their numbers as written', () => {
    const item = '{"type":"function_call","call_id":"a","name":"f","arguments":{"id":12345678901234567890,"x":1.0}}';
    const bytes = Buffer.from(`data: {"type":"response.completed","response":{"id":"r","output":[${item}]}}\n\n`);
    assert.deepEqual(callsOf(foldEvents(decodeStream(bytes))), ['a f({"id":12345678901234567890,"x":1.0})']);
  });

  test('an item has another id in every event', () => {
    const events = [
      CREATED,
      added(0, message('first')),
      stated(0, 'He', { item_id: 'second' }),
      stated(0, 'y', { item_id: 'third' }),
      done(0, message('fourth', outputText('Hey'))),
      completed([message('fifth', outputText('Hey'))]),
    ];
    assert.deepEqual(linesOf(foldStream(events)), ['text: Hey']);
  });

  test('items have ids and no places', () => {
    const delta = (item_id: string, text: string): JsonObject => ({
      type: 'response.output_text.delta',
      item_id,
      delta: text,
    });
    const events = [
      CREATED,
      { type: 'response.output_item.added', item: message('a') },
      delta('a', 'One'),
      { type: 'response.output_item.done', item: message('a', outputText('One')) },
      { type: 'response.output_item.added', item: message('b') },
      delta('b', 'Two'),
      completed([message('a', outputText('One')), message('b', outputText('Two'))]),
    ];
    assert.deepEqual(linesOf(foldStream(events)), ['text: One', 'text: Two']);
  });

  test('every item has place 0', () => {
    const events = [
      CREATED,
      added(0, { type: 'reasoning', id: 'r', summary: [] }),
      summed(0, 0, 'Think.'),
      done(0, summaries('r', ['Think.'])),
      added(0, message('m')),
      stated(0, 'Hi.'),
      done(0, message('m', outputText('Hi.'))),
      added(0, call('a', 'f', '')),
      argued(0, '{}'),
      done(0, call('a', 'f', '{}')),
      completed([summaries('r', ['Think.']), message('m', outputText('Hi.')), call('a', 'f', '{}')]),
    ];
    const answer = foldStream(events);
    assert.deepEqual(linesOf(answer), ['summary: Think.', 'text: Hi.', 'tool-call']);
    assert.deepEqual(callsOf(answer), ['a f({})']);
  });

  test('the event is named beside the data only', () => {
    const bytes = Buffer.from(
      'event: response.output_text.delta\ndata: {"output_index":0,"delta":"Hi"}\n\n' +
        `event: response.completed\ndata: ${JSON.stringify({ response: response([]) })}\n\ndata: [DONE]\n\n`,
    );
    assert.deepEqual(linesOf(foldEvents(decodeStream(bytes))), ['text: Hi']);
  });
});

suite('what cannot be read', () => {
  test('skips an event that is no JSON with a warning, after the start', () => {
    const [first, second, third] = decodeStream(
      Buffer.concat([Buffer.from('data: {"type":\n\n'), stream([stated(0, 'Hi'), completed()])]),
    );
    assert.equal(first?.type, 'start');
    assert.ok(second?.type === 'warning' && second.warning.code === 'event-skipped');
    assert.equal(third?.type, 'block-start');
  });

  test('events about nothing but progress are passed over in silence, and so are new ones', () => {
    const events = [
      CREATED,
      { type: 'response.file_search_call.in_progress', output_index: 0 },
      { type: 'response.new_thing.delta', delta: 'x' },
      { type: 'keepalive' },
      stated(0, 'Hi'),
      completed(),
    ];
    const answer = foldStream(events);
    assert.deepEqual(linesOf(answer), ['text: Hi']);
    assert.deepEqual(answer.warnings, []);
  });

  test('keeps an item of an unknown kind for this format, and warns others', () => {
    const item = { type: 'telepathy_call', id: 't', thought: 'x' };
    const answer = foldStream([CREATED, added(0, item), done(0, item), completed([item])]);
    assert.deepEqual(answer.blocks, [{ type: 'opaque', format: 'responses', value: item }]);
    assert.equal(answer.warnings.length, 1);
    assert.match(answer.warnings[0]?.message ?? '', /telepathy_call/);
  });

  test('omits a content part of an unknown kind, with a warning', () => {
    const item = message('m', { type: 'output_smell', scent: 'rose' }, outputText('A rose.'));
    const answer = foldStream([CREATED, done(0, item), completed()]);
    assert.deepEqual(linesOf(answer), ['text: A rose.']);
    assert.match(answer.warnings[0]?.message ?? '', /output_smell/);
  });

  test('bounds the warnings of a stream of nothing but faults', () => {
    const faults = Buffer.from('data: nonsense\n\n'.repeat(1_000));
    const warnings = decodeStream(faults).filter(({ type }) => type === 'warning');
    assert.equal(warnings.length, 20);
  });

  test('more items than any response has are left out with a warning', () => {
    const items = Array.from({ length: 1_200 }, (_, at) => done(at, message(`m${at}`, outputText('x'))));
    const answer = foldStream([CREATED, ...items, completed()]);
    assert.equal(answer.blocks.length, 1_000);
    assert.match(answer.warnings[0]?.message ?? '', /beyond the bound/);
  });

  test('ends the wait of a text that waits too long for another one', () => {
    const pieces = Array.from({ length: 10_001 }, () => stated(1, 'x'));
    const decoder = createStreamDecoder();
    const events = [...decoder.push(stream([CREATED, stated(0, 'One.'), ...pieces]))];
    const given = events.filter((event) => event.type === 'block-delta' && event.index === 1);
    assert.equal(given.length, 10_001);
  });
});
