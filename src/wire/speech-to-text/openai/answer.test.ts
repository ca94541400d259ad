import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decodeAnswer } from './answer.ts';

const SEGMENTS = [{ id: 0, start: 0, end: 1.5, text: ' What was said.' }];

suite('an answer in JSON where subtitles were to come (pain 14)', () => {
  // @spec stt-3
  test('becomes subtitles where it has the times for them', () => {
    const text = JSON.stringify({ text: 'What was said.', segments: SEGMENTS });
    assert.equal(decodeAnswer(text, 'srt')?.text, '1\n00:00:00,000 --> 00:00:01,500\nWhat was said.\n');
    assert.equal(decodeAnswer(text, 'vtt')?.text, 'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nWhat was said.\n');
  });

  // @spec stt-3
  test('is no answer where it has none: a text without times is no subtitle', () => {
    assert.equal(decodeAnswer('{"text":"What was said."}', 'srt'), undefined);
    assert.equal(decodeAnswer('{"text":"What was said.","segments":[]}', 'vtt'), undefined);
    assert.equal(decodeAnswer('{"text":"What was said."}', 'text')?.text, 'What was said.');
  });
});
