import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { spliceContinuation, spliceRestart, type Splice } from './splice.ts';

/** What the caller ends up with, or `undefined` where the two do not fit. */
function spliced(splice: Splice, delivered: string, pieces: readonly string[]): string | undefined {
  for (const [at, piece] of pieces.entries()) {
    const joint = splice.push(piece);
    if (joint.type === 'apart') return undefined;
    if (joint.type === 'joined') return delivered + joint.text + pieces.slice(at + 1).join('');
  }
  const joint = splice.end();
  return joint.type === 'joined' ? delivered + joint.text : undefined;
}

/** The same text in other pieces. */
function cutAt(text: string, places: readonly number[]): readonly string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((left, right) => left - right);
  return [0, ...sorted].map((from, index) => text.slice(from, sorted[index] ?? text.length));
}

/** Few letters, so that texts repeat themselves and each other. */
const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 120 });
const places = fc.array(fc.nat(400), { maxLength: 8 });

test('extends the delivered text exactly by a new text that begins with it, in any chunks', () => {
  fc.assert(
    fc.property(words, words, places, fc.boolean(), (delivered, more, cuts, exact) => {
      const splice = spliceRestart(delivered, { exact });
      const pieces = cutAt(delivered + more, cuts);
      assert.equal(spliced(splice, delivered, pieces), delivered + more);
    }),
  );
});

test('delivers the new text itself where only its beginning counts, and splices nothing else', () => {
  fc.assert(
    fc.property(words, words, places, (delivered, text, cuts) => {
      const outcome = spliced(spliceRestart(delivered, { exact: true }), delivered, cutAt(text, cuts));
      assert.equal(outcome, text.startsWith(delivered) ? text : undefined);
    }),
  );
});

test('cuts the new text right behind words that end the delivered one and appear nowhere before', () => {
  fc.assert(
    fc.property(words, words, words, words, places, (before, shared, other, after, cuts) => {
      const delivered = before + shared;
      const text = other + shared + after;
      const outcome = spliced(spliceRestart(delivered, { exact: false }), delivered, cutAt(text, cuts));
      if (outcome === undefined || text.startsWith(delivered)) return;
      const rest = outcome.slice(delivered.length);
      assert.ok(outcome.startsWith(delivered) && text.endsWith(rest));
      const stated = text.slice(0, text.length - rest.length);
      const ending = delivered.slice(-64);
      assert.ok(stated.endsWith(ending), 'the words before the cut are the same in both');
      assert.ok(delivered.length >= 64);
    }),
  );
});

const STORY = 'Once upon a time a gateway stood between two kingdoms, and every letter passed through it unread. ';
const NEXT = 'Then the bridge broke, in the middle of a sentence that no one has forgotten since that day, namely: ';

test('joins a new text that begins otherwise where it repeats the end', () => {
  const splice = spliceRestart(STORY + NEXT, { exact: false });
  const outcome = spliced(splice, STORY + NEXT, [
    'Long ago a gate stood there. ',
    NEXT.slice(0, 40),
    NEXT.slice(40),
    '“Help.”',
  ]);
  assert.equal(outcome, `${STORY + NEXT}“Help.”`);
});

test('does not join at an end that the delivered text contains twice, as text between would repeat', () => {
  const line = '| - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - |\n';
  const delivered = line.repeat(30);
  assert.equal(spliced(spliceRestart(delivered, { exact: false }), delivered, ['| a |\n', line, line]), undefined);
});

test('words that the delivered text repeats are joined at its end when enough of what leads up to it is the same', () => {
  const refrain = 'and every letter passed through it unread, as the law of both kingdoms had it. ';
  const delivered = `${STORY}${refrain}${NEXT}${refrain}`;
  const splice = spliceRestart(delivered, { exact: false });
  const text = `It is said: ${refrain}${NEXT}${refrain}The end.`;
  assert.equal(spliced(splice, delivered, [text]), `${delivered}The end.`);
});

test('ends the search after twice the delivered text and a little', () => {
  const splice = spliceRestart(STORY, { exact: false });
  let read = 0;
  while (splice.push('something else ').type === 'held') read += 'something else '.length;
  assert.ok(read <= 2 * STORY.length + 2_000, `${read} characters`);
});

test('searches a long text that never fits without copying it for each chunk', () => {
  const delivered = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(' ');
  const splice = spliceRestart(delivered, { exact: false });
  const startedUs = process.cpuUsage().user;
  splice.push('no');
  while (splice.push('no ').type === 'held');
  assert.ok(process.cpuUsage().user - startedUs < 2_000_000);
});

test('does not fit a new text that ends before it has repeated everything', () => {
  assert.equal(spliced(spliceRestart('one two', { exact: false }), 'one two', ['one ']), undefined);
});

test('appends a continuation to the delivered text, and does not repeat white space at its end', () => {
  for (const [delivered, text, outcome] of [
    ['It is', ' grey.', 'It is grey.'],
    ['It is ', ' grey.', 'It is grey.'],
    ['It is ', 'grey.', 'It is grey.'],
    ['It is\n\n', '\ngrey.', 'It is\n\ngrey.'],
    ['It is\n', '\n\ngrey.', 'It is\n\ngrey.'],
    ['It is ', '', 'It is '],
    ['It is ', ' ', 'It is '],
  ] as const)
    assert.equal(spliced(spliceContinuation(delivered), delivered, text.split('')), outcome);
});

test('cuts the repetition off a continuation that begins with the given text', () => {
  for (const text of [STORY.trimEnd(), STORY]) {
    const outcome = spliced(spliceContinuation(STORY), STORY, [text.slice(0, 10), text.slice(10), 'The end.']);
    assert.equal(outcome, `${STORY}The end.`);
  }
});

test('does not fit a continuation that begins again and then differs', () => {
  const text = `${STORY.slice(0, 80)}but not for long.`;
  assert.equal(spliced(spliceContinuation(STORY), STORY, text.split('')), undefined);
});

test('makes the same of a continuation in any chunks, and never loses a word', () => {
  fc.assert(
    fc.property(words, words, places, (delivered, text, cuts) => {
      const whole = spliced(spliceContinuation(delivered), delivered, [text]);
      assert.equal(spliced(spliceContinuation(delivered), delivered, cutAt(text, cuts)), whole);
      if (whole !== undefined && !text.startsWith(delivered.trimEnd().slice(0, 64)))
        assert.equal(whole.replaceAll(/\s/g, ''), (delivered + text).replaceAll(/\s/g, ''));
    }),
  );
});

test('neither joins nor drops a continuation that begins with all of a short or repetitive text', () => {
  for (const [delivered, text] of [
    ['No', 'No, it is not.'],
    ['1', '10'],
    ['ha ', 'ha ha'],
    ['1. Open', '1. Open the door.'],
    ['ha ha ha ha', 'ha ha ha ha ha!'],
    ['--- --- ', '--- --- ---'],
    ['0'.repeat(200), '0'.repeat(400)],
  ] as const)
    assert.equal(spliced(spliceContinuation(delivered), delivered, text.split('')), undefined, delivered);
});

test('appends a continuation that begins with less than all of a short text, or otherwise', () => {
  for (const [delivered, text] of [
    ['No', 'pe.'],
    ['No', ' N'],
    ['1. Open', '1. Op'],
    ['1', '0'],
    ['ha ha ha ha', ' ha!'],
    ['é', 'té'],
  ] as const)
    assert.equal(spliced(spliceContinuation(delivered), delivered, text.split('')), delivered + text);
});
