import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSrt, toVtt } from './subtitles.ts';

const SEGMENTS = [
  { start: 0, end: 1.2346, text: ' One' },
  { start: 59.9996, end: 3_600, text: 'Two\n\nthree ' },
];

// @spec stt-7
test('writes segments as subtitles, with times that carry', () => {
  assert.equal(
    toSrt(SEGMENTS),
    '1\n00:00:00,000 --> 00:00:01,235\nOne\n\n2\n00:01:00,000 --> 01:00:00,000\nTwo\nthree\n',
  );
  assert.equal(
    toVtt(SEGMENTS),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nOne\n\n00:01:00.000 --> 01:00:00.000\nTwo\nthree\n',
  );
});
