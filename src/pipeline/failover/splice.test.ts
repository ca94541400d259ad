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

test('a new text that begins with the delivered one extends it exactly, however it is cut into pieces', () => {
  fc.assert(
    fc.property(words, words, places, fc.boolean(), (delivered, more, cuts, exact) => {
      const splice = spliceRestart(delivered, { exact });
      const pieces = cutAt(delivered + more, cuts);
      assert.equal(spliced(splice, delivered, pieces), delivered + more);
    }),
  );
});

test('where only a beginning counts, what is spliced is the new text itself, and nothing else is spliced', () => {
  fc.assert(
    fc.property(words, words, places, (delivered, text, cuts) => {
      const outcome = spliced(spliceRestart(delivered, { exact: true }), delivered, cutAt(text, cuts));
      assert.equal(outcome, text.startsWith(delivered) ? text : undefined);
    }),
  );
});

test('otherwise the new text is cut right behind words that end the delivered one and stand nowhere before', () => {
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

test('a new text that begins otherwise and then says the end again is joined there', () => {
  const splice = spliceRestart(STORY + NEXT, { exact: false });
  const outcome = spliced(splice, STORY + NEXT, [
    'Long ago a gate stood there. ',
    NEXT.slice(0, 40),
    NEXT.slice(40),
    '“Help.”',
  ]);
  assert.equal(outcome, `${STORY + NEXT}“Help.”`);
});

test('an end that the delivered text says twice is no place to join at, as what lies between would come again', () => {
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

test('a search ends after twice the delivered text and a little', () => {
  const splice = spliceRestart(STORY, { exact: false });
  let read = 0;
  while (splice.push('something else ').type === 'held') read += 'something else '.length;
  assert.ok(read <= 2 * STORY.length + 2_000, `${read} characters`);
});

test('a long text that never fits is looked through without being copied for each piece', () => {
  const delivered = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(' ');
  const splice = spliceRestart(delivered, { exact: false });
  const startedUs = process.cpuUsage().user;
  splice.push('no');
  while (splice.push('no ').type === 'held');
  assert.ok(process.cpuUsage().user - startedUs < 2_000_000);
});

test('a new text that ends before it has said all that was delivered does not fit', () => {
  assert.equal(spliced(spliceRestart('one two', { exact: false }), 'one two', ['one ']), undefined);
});

test('a continuation follows the delivered text, whose white space at the end it does not say twice', () => {
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

test('a continuation that is none, as it says what it was given again, is cut behind that', () => {
  for (const text of [STORY.trimEnd(), STORY]) {
    const outcome = spliced(spliceContinuation(STORY), STORY, [text.slice(0, 10), text.slice(10), 'The end.']);
    assert.equal(outcome, `${STORY}The end.`);
  }
});

test('one that begins again and then says something else does not fit', () => {
  const text = `${STORY.slice(0, 80)}but not for long.`;
  assert.equal(spliced(spliceContinuation(STORY), STORY, text.split('')), undefined);
});

test('a continuation gives the same whatever its pieces, and never loses a word', () => {
  fc.assert(
    fc.property(words, words, places, (delivered, text, cuts) => {
      const whole = spliced(spliceContinuation(delivered), delivered, [text]);
      assert.equal(spliced(spliceContinuation(delivered), delivered, cutAt(text, cuts)), whole);
      if (whole !== undefined && !text.startsWith(delivered.trimEnd().slice(0, 64)))
        assert.equal(whole.replaceAll(/\s/g, ''), (delivered + text).replaceAll(/\s/g, ''));
    }),
  );
});

test('a continuation that begins with all of a text that is short, or the same over and over, is neither joined nor dropped', () => {
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

test('a continuation that begins with less than all of a short text, or otherwise, follows it', () => {
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
