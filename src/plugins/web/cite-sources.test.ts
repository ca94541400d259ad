import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { UrlCitation } from '../../canonical/blocks.ts';
import type { CitationEvent, GenerationEvent } from '../../canonical/events.ts';
import type { FormatId } from '../../canonical/extra.ts';
import { createFold } from '../../canonical/fold.ts';
import { joinResponseText } from '../../canonical/text-gap.ts';
import { SourceCiter } from './cite-sources.ts';

const HITS = [
  { url: 'https://a.example/one', title: 'One', content: 'what one says' },
  { url: 'https://B.example/two/', title: 'Two', content: '' },
  { url: 'https://c.example/x_(y)?q=1', title: 'Three', content: 'c' },
];

type Stated = readonly (string | { readonly reasoning: string })[];

/** An answer of these blocks, each in the pieces that `cuts` makes. */
function eventsOf(stated: Stated, format: FormatId = 'chat', cut = 7): GenerationEvent[] {
  const events: GenerationEvent[] = [{ type: 'start', format }];
  for (const [index, one] of stated.entries()) {
    const text = typeof one === 'string' ? one : one.reasoning;
    const block =
      typeof one === 'string'
        ? ({ type: 'text', text: '' } as const)
        : ({ type: 'reasoning', form: 'text', text: '' } as const);
    events.push({ type: 'block-start', index, block });
    for (let at = 0; at < text.length; at += cut)
      events.push({ type: 'block-delta', index, text: text.slice(at, at + cut) });
    events.push({ type: 'block-end', index });
  }
  return [...events, { type: 'end', finish: 'stop' }];
}

function cite(events: readonly GenerationEvent[], batch = 1): GenerationEvent[] {
  const citer = new SourceCiter(HITS);
  const out: GenerationEvent[] = [];
  for (let at = 0; at < events.length; at += batch) out.push(...citer.push(events.slice(at, at + batch)));
  return out;
}

/** What of the answer's text each citation stands on. */
function placesOf(events: readonly GenerationEvent[], format: FormatId = 'chat'): unknown[] {
  const fold = createFold();
  fold.push(events);
  const { text } = joinResponseText(format, fold.response().blocks);
  return events
    .filter((event): event is CitationEvent & { citation: UrlCitation } => event.type === 'citation')
    .filter(({ index }) => index >= 0)
    .map(({ index, citation }) => [index, citation.url, text.slice(citation.start, citation.end)]);
}

test('links are found however they are written, each at its place', () => {
  const stated = [
    'See [a](https://a.example/one), [a "b"](<https://a.example/one> "title"), https://b.example/two. And ' +
      '[c](https://c.example/x_(y)?q=1)! But not [d](https://d.example/) or https://a.example/onelonger.',
  ];
  assert.deepEqual(placesOf(cite(eventsOf(stated))), [
    [0, HITS[0]?.url, '[a](https://a.example/one)'],
    [0, HITS[0]?.url, '[a "b"](<https://a.example/one> "title")'],
    [0, HITS[1]?.url, 'https://b.example/two'],
    [0, HITS[2]?.url, '[c](https://c.example/x_(y)?q=1)'],
  ]);
});

test('places count in the text of the whole answer, as each format joins it', () => {
  const stated = [
    'First. ',
    'More https://a.example/one',
    { reasoning: 'https://a.example/one' },
    'Last https://b.example/two/',
  ];
  for (const format of ['chat', 'messages', 'gemini'] as const)
    assert.deepEqual(
      placesOf(cite(eventsOf(stated, format)), format),
      [
        [1, HITS[0]?.url, 'https://a.example/one'],
        [3, HITS[1]?.url, 'https://b.example/two/'],
      ],
      format,
    );
});

// @spec stream-18
test('citations of a text come before its end, and those that nothing links to before the end of the answer', () => {
  const out = cite(eventsOf(['x https://a.example/one']), 100);
  assert.deepEqual(
    out.slice(-5).map((event) => [event.type, 'index' in event ? event.index : undefined]),
    [
      ['citation', 0],
      ['block-end', 0],
      ['citation', -1],
      ['citation', -1],
      ['end', undefined],
    ],
  );
});

test('cites only the links of a response that breaks off', () => {
  const broken = eventsOf(['x https://a.example/one']).slice(0, -1);
  const out = cite([...broken, { type: 'warning', warning: { code: 'event-skipped', path: '', message: '' } }]);
  assert.equal(out.filter(({ type }) => type === 'citation').length, 1);
});

test('takes no longer for texts that are made to keep it busy', { timeout: 20_000 }, () => {
  // Each takes minutes where the search begins again at every character.
  const chars = 1_000_000;
  for (const text of [
    `[x](http://${'a'.repeat(chars)}`,
    `https://a${'.'.repeat(chars)}x`,
    `[x](http://a${'()'.repeat(chars / 2)}`,
    `[x](http://a${' b'.repeat(chars / 2)}`,
    '['.repeat(chars),
    '[x](http://a '.repeat(chars / 13),
  ])
    assert.equal(cite(eventsOf([text], 'chat', chars)).filter(({ type }) => type === 'citation').length, HITS.length);
});

test('cites the same in any chunks and batches, and changes nothing else', () => {
  const word = fc.constantFrom(
    'word ',
    '[x](https://a.example/one) ',
    'https://b.example/two. ',
    '[',
    '](',
    ')',
    'https://',
    'é😀',
    '\n\n',
  );
  const texts = fc.array(
    fc.array(word, { maxLength: 8 }).map((words) => words.join('')),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (stated, cut, batch) => {
      const plain = eventsOf(stated, 'messages', 1_000);
      const out = cite(eventsOf(stated, 'messages', cut), batch);
      assert.deepEqual(placesOf(out, 'messages'), placesOf(cite(plain, 1_000), 'messages'));
      assert.deepEqual(
        out.filter(({ type }) => type !== 'citation'),
        eventsOf(stated, 'messages', cut),
      );
      for (const [, url, text] of placesOf(out, 'messages') as [number, string, string][])
        assert.ok(text.includes(url.toLowerCase().replace(/\/$/, '')), `${text} names ${url}`);
    }),
    { numRuns: 300 },
  );
});
