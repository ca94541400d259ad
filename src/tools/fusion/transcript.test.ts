import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';
import { drawTranscript } from './transcript.ts';

const turn = (role: Turn['role'], ...blocks: readonly Block[]): Turn => ({ role, blocks });
const text = (words: string): Block => ({ type: 'text', text: words });

test('a single message of the user stands as it is', () => {
  assert.equal(drawTranscript([turn('user', text(' Tea or\ncoffee? '))]), ' Tea or\ncoffee? ');
});

test('a conversation tells who said what, in order', () => {
  const turns = [
    turn('system', text('Be brief.')),
    turn('user', text('Hi.')),
    turn('assistant', text('Hello.')),
    turn('user', text('Tea?')),
  ];
  assert.equal(drawTranscript(turns), 'Instructions:\nBe brief.\n\nUser:\nHi.\n\nAssistant:\nHello.\n\nUser:\nTea?');
});

test('media are named, calls and results told in words, reasoning left out', () => {
  const drawn = drawTranscript([
    turn('user', text('See:'), {
      type: 'media',
      media: 'image',
      source: { type: 'url', url: 'https://a.test/secret.png' },
    }),
    turn(
      'assistant',
      { type: 'reasoning', form: 'text', text: 'hidden thoughts' },
      { type: 'tool-call', id: 'c', name: 'look', input: '{"x":1.0}', runBy: 'caller' },
    ),
    turn('tool', { type: 'tool-result', callId: 'c', content: [text('a cat')] }),
  ]);
  assert.equal(drawn, 'User:\nSee:\n[image]\n\nAssistant:\n[calls look with {"x":1.0}]\n\nTool:\n[result: a cat]');
});

test('a result of a tool is cut where it would fill the prompt', () => {
  const long = turn('tool', { type: 'tool-result', callId: 'c', content: [text('x'.repeat(50_000))] });
  const drawn = drawTranscript([turn('user', text('Hi.')), long]);
  assert.ok(drawn.length < 21_000 && drawn.endsWith('...]'));
});

test('a turn that says nothing in words is left out', () => {
  const silent = turn('assistant', { type: 'reasoning', form: 'encrypted', text: 'x' });
  assert.equal(drawTranscript([silent, turn('user', text('Tea?'))]), 'Tea?');
});
