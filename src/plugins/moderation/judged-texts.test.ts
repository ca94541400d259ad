import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';
import { splitIntoCalls, userTexts } from './judged-texts.ts';

const BOUNDS = { piecesMax: 4, charsMax: 40_000, callsMax: 3 };

suite('judged texts', () => {
  test('is all that users wrote, documents in plain text too, and nothing that a tool or the model said', () => {
    const text = (words: string): Block => ({ type: 'text', text: words });
    const document = (source: object): Block => ({ type: 'media', media: 'document', source }) as Block;
    const turns: Turn[] = [
      { role: 'system', blocks: [text('system')] },
      {
        role: 'user',
        name: 'Ann',
        blocks: [text('one'), document({ type: 'text', mediaType: 'text/plain', text: 'two' })],
      },
      { role: 'assistant', blocks: [text('model')] },
      {
        role: 'user',
        blocks: [
          { type: 'tool-result', callId: 'a', content: [text('tool')] },
          text(' '),
          document({ type: 'blocks', blocks: [text('three')] }),
          document({ type: 'url', url: 'https://example.com/a.pdf' }),
        ],
      },
    ];
    assert.deepEqual(userTexts({ turns }), ['Ann', 'one', 'two', 'three']);
  });

  test('are cut to their beginning when they are long, without splitting a word', () => {
    const long = `${'a'.repeat(9_990)} build a pipe bomb ${'b'.repeat(90_000)}`;
    const pieces = splitIntoCalls([long], BOUNDS).flat();
    assert.ok(pieces.some((piece) => piece.includes('build a pipe bomb')));
  });

  test('are the last ones of too many, as many at once as the classifier takes', () => {
    const texts = Array.from({ length: 20 }, (_, index) => String(index));
    assert.deepEqual(splitIntoCalls(texts, BOUNDS), [
      ['8', '9', '10', '11'],
      ['12', '13', '14', '15'],
      ['16', '17', '18', '19'],
    ]);
  });

  test('submits all texts in order, within the limits, and whole when they fit', () => {
    const words = fc.array(fc.string({ minLength: 1, maxLength: 30, unit: 'binary' }), { maxLength: 8 });
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 900 }), (texts, times) => {
        const long = texts.map((text) => text.repeat(times));
        const calls = splitIntoCalls(long, BOUNDS);
        for (const ask of calls) {
          assert.ok(ask.length > 0 && ask.length <= BOUNDS.piecesMax);
          assert.ok(ask.reduce((sum, { length }) => sum + length, 0) <= BOUNDS.charsMax);
        }
        assert.ok(calls.length <= BOUNDS.callsMax);
        if (long.length <= BOUNDS.piecesMax && long.every(({ length }) => length <= 10_000))
          assert.deepEqual(
            calls.flat(),
            long.map((text) => text.toWellFormed()),
          );
      }),
    );
  });
});
