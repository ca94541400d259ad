import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitAnswers } from './fit-answers.ts';

const answers = (...lengths: readonly number[]) =>
  lengths.map((length, at) => ({ model: `a/${at}`, content: 'word '.repeat(length / 5) }));
const lengthsOf = (fitted: ReturnType<typeof fitAnswers>): readonly number[] =>
  fitted.map(({ content }) => content.length);

test('keeps answers that fit any model, without looking up the context', () => {
  const short = answers(1_000, 20_000);
  assert.equal(
    fitAnswers(short, () => assert.fail('it does not count')),
    short,
  );
});

test('answers that fit this model stay as they are', () => {
  const long = answers(60_000, 60_000);
  assert.equal(
    fitAnswers(long, () => 200_000),
    long,
  );
});

test('cuts the longest at a word when they do not fit, and keeps short ones whole', () => {
  // Room for 45,000 characters.
  const [short = 0, long = 0, longer = 0] = lengthsOf(fitAnswers(answers(5_000, 30_000, 90_000), () => 30_000));
  assert.equal(short, 5_000);
  assert.ok(long > 19_900 && long <= 20_006 && long === longer, `${long}, ${longer}`);
  const cut = fitAnswers(answers(90_000), () => 30_000)[0]?.content ?? '';
  assert.ok(cut.endsWith('word [...]'), cut.slice(-20));
});

test('assumes the usual context for an unknown model', () => {
  const fitted = fitAnswers(answers(150_000, 150_000), () => undefined);
  assert.ok(lengthsOf(fitted).every((length) => length > 95_000 && length < 97_000));
});
