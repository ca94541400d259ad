import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { compileRules } from '../../content-filters/compile-rules.ts';
import type { FilterRule, RedactedText } from '../../content-filters/contract.ts';
import { scanTexts } from '../../content-filters/scan.ts';
import type { TranscriptFormat } from '../../canonical/transcription.ts';
import type { Transcript } from '../../wire/speech-to-text/transcript.ts';
import { redactTranscript, textsOfTranscript } from './filter-transcript.ts';

const rule = (pattern: string, label = '[X]'): FilterRule => ({
  kind: 'pattern',
  pattern,
  action: 'redact',
  label,
  name: pattern,
});

async function redact(
  transcript: Transcript,
  rules: readonly FilterRule[],
  answersIn: TranscriptFormat = 'verbose_json',
): Promise<Transcript> {
  const texts = textsOfTranscript(transcript, answersIn).map(
    (text) => ({ text, form: 'plain', byUser: false }) as const,
  );
  const { redacted } = scanTexts(texts, compileRules(rules));
  const found = new Map<number, RedactedText>(redacted.map(({ index, ...each }) => [index, each]));
  return redactTranscript(transcript, found, answersIn);
}

const wordsOf = (text: string) => text.split(' ').map((word, at) => ({ word, start: at, end: at + 1 }));
const segmentsOf = (...texts: readonly string[]) => texts.map((text, at) => ({ text, start: at, end: at + 1 }));
const spoken = ({ segments, words }: Transcript) => [segments?.map(({ text }) => text), words?.map(({ word }) => word)];

suite('redacted transcripts', () => {
  test('replaces words of a match whose like stands elsewhere', async () => {
    const text = 'The red house, the red fox. A fox sleeps.';
    const words = wordsOf('The red house the red fox A fox sleeps');
    const segments = segmentsOf('The red house, the red', ' fox. A fox sleeps.');
    const got = await redact({ text, words, segments }, [rule('red fox')]);
    assert.equal(got.text, 'The red house, the [X]. A fox sleeps.');
    assert.deepEqual(spoken(got), [
      ['The red house, the [X]', ' [X]. A fox sleeps.'],
      ['The', 'red', 'house', 'the', '[X]', '[X]', 'A', 'fox', 'sleeps'],
    ]);
  });

  test('replaces a number that is spoken in pieces, of which one stands elsewhere', async () => {
    const text = 'Room 555. Call 555-0199 today.';
    const words = wordsOf('Room 555. Call 555 -0199 today.');
    const got = await redact({ text, words, segments: segmentsOf('Room 555.', 'Call 555-', '0199 today.') }, [
      rule('\\d{3}-\\d{4}'),
    ]);
    assert.deepEqual(spoken(got), [
      ['Room 555.', 'Call [X]', '[X] today.'],
      ['Room', '555.', 'Call', '[X]', '[X]', 'today.'],
    ]);
  });

  test('replaces what stands in segments and words alone', async () => {
    const got = await redact({ text: '', words: wordsOf('a red fox'), segments: segmentsOf('a red', 'fox') }, [
      rule('red fox'),
    ]);
    assert.deepEqual(spoken(got), [
      ['a [X]', '[X]'],
      ['a', '[X]', '[X]'],
    ]);
  });

  test('finds words again that are written otherwise than the text', async () => {
    const text = 'WRITE TO ann.lee@example.com, ÉMILE.';
    const got = await redact({ text, words: wordsOf('write to ann Lee example com émile') }, [
      rule('[\\w.]+@[\\w.]+com'),
    ]);
    assert.deepEqual(spoken(got)[1], ['write', 'to', '[X]', '[X]', '[X]', '[X]', 'émile']);
  });

  test('replaces words between, where they do not spell the text and a match lies there', async () => {
    const text = 'Pay 41 dollars to the red fox now please.';
    const words = wordsOf('Pay forty one dollars to a red fox now please');
    const far = await redact({ text, words }, [rule('Pay')]);
    assert.deepEqual(
      spoken(far)[1],
      wordsOf('[X] forty one dollars to a red fox now please').map(({ word }) => word),
    );
    const near = await redact({ text, words }, [rule('dollars')]);
    assert.deepEqual(spoken(near)[1], [
      'Pay',
      ...Array.from({ length: 5 }, () => '[REDACTED]'),
      ...wordsOf('red fox now please').map(({ word }) => word),
    ]);
  });

  test('replaces a match over two cues of subtitles that came as they are', async () => {
    const srt = '1\n00:00:00,000 --> 00:00:01,000\nthe red\n\n2\n00:00:01,000 --> 00:00:02,000\nfox sleeps\n';
    const got = await redact({ text: srt }, [rule('red fox')], 'srt');
    assert.equal(got.text, srt.replace('the red', 'the [X]').replace('fox sleeps', '[X] sleeps'));
    const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\r\nthe red\r\nfox\r\n\r\ncue 2\n00:01.000 --> 00:02.000\nsleeps\n';
    const other = await redact({ text: vtt }, [rule('red fox sleeps')], 'vtt');
    assert.equal(other.text, vtt.replace('the red\r\nfox', 'the [X]\r\n[X]').replace('sleeps', '[X]'));
  });

  test('keeps tokens and probabilities where nothing is replaced, and only there', async () => {
    const segments = segmentsOf('the red', ' fox', ' sleeps').map((segment, at) => ({
      ...segment,
      more: { tokens: [at] },
    }));
    const transcript: Transcript = { text: 'the red fox sleeps', segments, logprobs: [{ token: 'red', logprob: -1 }] };
    assert.equal(await redact(transcript, [rule('wolf')]), transcript);
    const got = await redact(transcript, [rule('red fox')]);
    assert.deepEqual(
      got.segments?.map(({ more }) => more),
      [undefined, undefined, { tokens: [2] }],
    );
    assert.equal('logprobs' in got, false);
  });
});
