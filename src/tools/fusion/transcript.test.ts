import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';
import { formatTranscript } from './transcript.ts';

const turn = (role: Turn['role'], ...blocks: readonly Block[]): Turn => ({ role, blocks });
const text = (words: string): Block => ({ type: 'text', text: words });

test('passes a single user message unchanged', () => {
  assert.equal(formatTranscript([turn('user', text(' Tea or\ncoffee? '))]), ' Tea or\ncoffee? ');
});

test('names the speakers of a conversation, in order', () => {
  const turns = [
    turn('system', text('Be brief.')),
    turn('user', text('Hi.')),
    turn('assistant', text('Hello.')),
    turn('user', text('Tea?')),
  ];
  assert.equal(formatTranscript(turns), 'Instructions:\nBe brief.\n\nUser:\nHi.\n\nAssistant:\nHello.\n\nUser:\nTea?');
});

test('names media, describes calls and results in words, and leaves reasoning out', () => {
  const formatted = formatTranscript([
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
  assert.equal(formatted, 'User:\nSee:\n[image]\n\nAssistant:\n[calls look with {"x":1.0}]\n\nTool:\n[result: a cat]');
});

test('cuts a tool result that would fill the prompt', () => {
  const long = turn('tool', { type: 'tool-result', callId: 'c', content: [text('x'.repeat(50_000))] });
  const formatted = formatTranscript([turn('user', text('Hi.')), long]);
  assert.ok(formatted.length < 21_000 && formatted.endsWith('...]'));
});

test('leaves out a turn without words', () => {
  const silent = turn('assistant', { type: 'reasoning', form: 'encrypted', text: 'x' });
  assert.equal(formatTranscript([silent, turn('user', text('Tea?'))]), 'Tea?');
});
