import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import { createStreamDecoder } from './stream.ts';
import {
  call,
  callsOf,
  chunk,
  CODE_AND_PICTURE,
  decodeStream,
  finish,
  foldStream,
  GROUNDED,
  kindsOf,
  OTHER_SIGNATURE,
  PARTIAL_CALL,
  SIGNATURE,
  stream,
  textOfBlocks,
  THOUGHT_AND_CALLS,
  withCountedIds,
  withLastCount,
} from '../../../../tests/support/wire/gemini/streams.ts';

const STREAMS = { THOUGHT_AND_CALLS, GROUNDED, CODE_AND_PICTURE, PARTIAL_CALL };

for (const [name, chunks] of Object.entries(STREAMS)) {
  test(`${name}: any split of the bytes gives the same events`, () => {
    const bytes = stream(chunks);
    const whole = withCountedIds(withLastCount(decodeStream(bytes)));
    checkEvents(whole);
    for (let cut = 1; cut < bytes.length; cut++)
      assert.deepEqual(withCountedIds(withLastCount(decodeStream(bytes, [cut]))), whole, `cut at byte ${cut}`);
    const everywhere = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    assert.deepEqual(withCountedIds(withLastCount(decodeStream(bytes, everywhere))), whole);
  });
}

test('keeps id, model, counts and end of a response', () => {
  const answer = foldStream(THOUGHT_AND_CALLS);
  assert.deepEqual([answer.format, answer.id, answer.model], ['gemini', 'pZ2xaOfUEcGjqtsP', 'gemini-3-flash-preview']);
  assert.deepEqual(answer.end, { type: 'end', finish: 'tool_calls', nativeFinish: 'STOP' });
  assert.deepEqual(
    [answer.usage?.promptTokens, answer.usage?.completionTokens, answer.usage?.reasoningTokens],
    [29, 212, 202],
  );
});

suite('reasoning', () => {
  test('is the thoughts, which are no part of the text', () => {
    const answer = foldStream([chunk([{ text: 'Hm.', thought: true }]), finish('STOP', [{ text: 'Yes.' }])]);
    assert.deepEqual(kindsOf(answer), ['text', 'text']);
    assert.equal(textOfBlocks(answer, 'reasoning'), 'Hm.');
    assert.equal(textOfBlocks(answer, 'text'), 'Yes.');
    const [thought] = answer.blocks;
    assert.equal(thought?.type === 'reasoning' && thought.family, 'google-gemini-v1');
  });

  test('keeps each signature with the text that it came with', () => {
    const answer = foldStream([
      chunk([{ text: 'One', thought: true }]),
      chunk([{ text: '.', thought: true, thoughtSignature: SIGNATURE }]),
      chunk([{ text: 'Two.', thought: true, thoughtSignature: OTHER_SIGNATURE }]),
      finish('STOP', [{ text: 'Three.' }]),
    ]);
    assert.deepEqual(
      answer.blocks.map((block) => block.type === 'reasoning' && [block.text, block.signature]),
      [['One.', SIGNATURE], ['Two.', OTHER_SIGNATURE], false],
    );
  });
});

suite('what the vendor makes besides text', () => {
  test('code that it ran itself is no call for the caller', () => {
    const answer = foldStream(CODE_AND_PICTURE);
    assert.deepEqual(kindsOf(answer), ['tool-call', 'opaque', 'text', 'media']);
    const [code, result] = answer.blocks;
    assert.ok(code?.type === 'tool-call' && result?.type === 'opaque');
    assert.deepEqual(
      [code.runBy, code.name, code.input],
      ['upstream', 'code_execution', '{"code":"print(6 * 7)","language":"PYTHON"}'],
    );
    assert.equal(result.plainText, '42\n');
    assert.deepEqual(result.value, {
      type: 'code_execution_tool_result',
      tool_use_id: 'exec_1',
      content: { type: 'code_execution_result', stdout: '42\n', stderr: '', return_code: 0, content: [] },
    });
    assert.equal(answer.end?.finish, 'length');
  });

  test('code that failed says so', () => {
    const [, result] = foldStream([
      finish('STOP', [
        { executableCode: { code: 'x' } },
        { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'NameError' } },
      ]),
    ]).blocks;
    assert.ok(result?.type === 'opaque');
    assert.match(JSON.stringify(result.value), /"stdout":"","stderr":"NameError","return_code":1/);
  });

  test('decodes an image to a block of its own, and omits one of its thoughts', () => {
    const draft = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thought: true };
    const answer = foldStream([chunk([draft]), ...CODE_AND_PICTURE.slice(4)]);
    assert.deepEqual(answer.blocks, [
      { type: 'media', media: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
    assert.equal(answer.warnings.length, 1);
  });

  test('sound in pieces is one sound, wherever its bytes are cut', () => {
    const sound = Buffer.from('The quick brown fox jumps over the lazy dog.');
    const pieces = [sound.subarray(0, 5), sound.subarray(5, 6), sound.subarray(6, 30), sound.subarray(30)];
    const answer = foldStream([
      ...pieces.map((bytes) =>
        chunk([{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: bytes.toString('base64') } }]),
      ),
      finish('STOP'),
    ]);
    assert.deepEqual(answer.blocks, [
      {
        type: 'media',
        media: 'audio',
        source: { type: 'base64', mediaType: 'audio/L16;codec=pcm;rate=24000', data: sound.toString('base64') },
      },
    ]);
  });

  test('decodes a provider-native tool as no call for the caller', () => {
    const [search, found] = foldStream([
      finish('STOP', [
        { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['x'] } } },
        { toolResponse: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', response: { hits: 3 } } },
      ]),
    ]).blocks;
    assert.deepEqual(search, {
      type: 'tool-call',
      id: 't1',
      name: 'google_search_web',
      input: '{"queries":["x"]}',
      runBy: 'upstream',
    });
    assert.ok(found?.type === 'opaque' && found.format === 'gemini');
    assert.equal(found.plainText, '{"hits":3}');
  });

  test('keeps a file at its address', () => {
    const [video] = foldStream([
      finish('STOP', [{ fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' } }]),
    ]).blocks;
    assert.deepEqual(video, { type: 'media', media: 'video', source: { type: 'url', url: 'gs://bucket/a.mp4' } });
  });

  test('omits a part of an unknown kind, with a warning', () => {
    const answer = foldStream([finish('STOP', [{ hologram: { data: 'x' } }, { text: 'Yes.' }])]);
    assert.deepEqual(kindsOf(answer), ['text']);
    assert.match(answer.warnings[0]?.message ?? '', /hologram/);
  });
});

suite('the end', () => {
  for (const [word, expected] of [
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'error'],
    ['OTHER', 'stop'],
    ['A_WORD_TO_COME', 'stop'],
  ] as const) {
    test(`${word} is ${expected}`, () => {
      const { end } = foldStream([chunk([{ text: 'So.' }]), finish(word)]);
      assert.deepEqual(end, { type: 'end', finish: expected, nativeFinish: word });
    });
  }

  test('stays cut off although there are calls', () => {
    assert.equal(foldStream([finish('MAX_TOKENS', [call('a', {})])]).end?.finish, 'length');
  });

  test('counts that come after it still count', () => {
    const answer = foldStream([
      chunk([{ text: 'So.' }], { finishReason: 'STOP' }),
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } },
    ]);
    assert.deepEqual([answer.usage?.promptTokens, answer.usage?.completionTokens], [3, 4]);
    assert.equal(answer.end?.finish, 'stop');
  });

  test('decodes a refused prompt to content_filter, with the reason as the refusal', () => {
    const answer = foldStream([
      {
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' },
        usageMetadata: { promptTokenCount: 5 },
      },
    ]);
    assert.deepEqual(answer.end, { type: 'end', finish: 'content_filter', nativeFinish: 'PROHIBITED_CONTENT' });
    assert.deepEqual(answer.blocks, [{ type: 'refusal', text: 'Not this.' }]);
    assert.equal(answer.usage?.promptTokens, 5);
  });

  test('gives the reason of a response that was stopped for its content', () => {
    const answer = foldStream([chunk([{ text: 'So' }]), finish('SAFETY', [], { finishMessage: 'Harm.' })]);
    assert.deepEqual(kindsOf(answer), ['text', 'refusal']);
  });

  test('is a failure when it does not come, and what had come is kept', () => {
    const answer = foldStream(THOUGHT_AND_CALLS.slice(0, 2));
    assert.equal(answer.failure?.kind, 'early-end');
    assert.equal(answer.end, undefined);
    assert.equal(textOfBlocks(answer, 'reasoning'), '**Looking up** both cities — müde.');
  });

  test('is a failure of an empty stream', () => {
    assert.equal(foldStream([]).failure?.kind, 'early-end');
  });
});

suite('a stream', () => {
  const plain = [chunk([{ text: 'So' }]), finish('STOP', [{ text: '.' }])];

  for (const [name, before, after] of [
    ['comments', ': keepalive\r\n\r\n', ''],
    ['a byte order mark', '\uFEFF', ''],
    ['plain line feeds and event names', 'event: message\nid: 4\n', ''],
    ['a terminal word of other vendors', '', 'data: [DONE]\n\n'],
    [
      'no blank line at its end',
      '',
      'data: {"usageMetadata":{"promptTokenCount":29,"candidatesTokenCount":10,"thoughtsTokenCount":202}}',
    ],
  ] as const) {
    test(`reads alike with ${name}`, () => {
      const bytes = Buffer.concat([Buffer.from(before), stream(plain), Buffer.from(after)]);
      const answer = foldEvents(decodeStream(bytes));
      assert.deepEqual(answer, foldStream(plain));
    });
  }

  test('goes on after an event that cannot be read, and notes it behind the start', () => {
    const events = decodeStream(stream(['{"candidates":', ...plain]));
    checkEvents(events);
    assert.deepEqual(
      events.slice(0, 2).map(({ type }) => type),
      ['start', 'warning'],
    );
    assert.equal(textOfBlocks(foldEvents(events), 'text'), 'So.');
  });

  test('fails with the status of the error that it says, and is not read further', () => {
    const answer = foldStream([
      chunk([{ text: 'So' }]),
      { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
      finish('STOP'),
    ]);
    assert.equal(answer.failure?.kind, 'error-event');
    assert.equal(answer.failure.upstreamStatus, 503);
    assert.equal(answer.failure.providerCode, 'UNAVAILABLE');
    assert.equal(answer.end, undefined);
  });

  test('fails for an error in a list, as streams without SSE say it', () => {
    const answer = foldStream(['[{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED"}}]']);
    assert.equal(answer.failure?.upstreamStatus, 429);
  });

  test('gives the first of several candidates', () => {
    const other = { content: { parts: [{ text: 'No.' }] }, index: 1 };
    const first = { content: { parts: [{ text: 'Yes.' }, call('f', { a: 1 })] }, index: 0, finishReason: 'STOP' };
    const answer = foldStream([{ candidates: [other, first] }]);
    assert.equal(textOfBlocks(answer, 'text'), 'Yes.');
    assert.deepEqual(callsOf(answer), ['f({"a":1})']);
  });

  test('gives log probabilities in the words of the chat format', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Sü', tokenId: 4, logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'So', logProbability: -0.7 }] }],
    };
    const [block] = foldStream([finish('STOP', [{ text: 'Sü' }], { logprobsResult })]).blocks;
    assert.deepEqual(block?.extra, {
      format: 'chat',
      fields: {
        choices: {
          logprobs: {
            content: [
              {
                token: 'Sü',
                logprob: -0.5,
                bytes: [83, 195, 188],
                top_logprobs: [{ token: 'So', logprob: -0.7, bytes: [83, 111] }],
              },
            ],
          },
        },
      },
    });
  });

  test('fails before an event without an end fills the memory', () => {
    const decoder = createStreamDecoder();
    const piece = Buffer.alloc(8 * 1024 * 1024, 'a');
    decoder.push(Buffer.from('data: {"candidates":[{"content":{"parts":[{"text":"'));
    let failure: string | undefined;
    for (let count = 0; count < 64 && failure === undefined; count++)
      failure = foldEvents(decoder.push(piece)).failure?.kind;
    assert.equal(failure, 'too-large');
    assert.deepEqual(decoder.end(), []);
  });
});
