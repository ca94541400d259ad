import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import type { Block } from '../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { checkEvents } from '../../../tests/support/wire/event-grammar.ts';
import type { FilterRule } from '../../content-filters/contract.ts';
import { createTextInspector } from '../../content-filters/inspector.ts';
import { sampleFacts } from '../../../tests/support/settled-record.ts';
import { filterResponse } from './filter-response.ts';
import type { UpstreamResponse } from '../request.ts';

const inspector = createTextInspector();
after(() => inspector.close());

const pattern = (text: string, action: FilterRule['action'] = 'redact', label = '[X]'): FilterRule => ({
  kind: 'pattern',
  pattern: text,
  action,
  label,
  name: text,
});
const EMAIL: FilterRule = {
  kind: 'builtin',
  slug: 'email',
  action: 'redact',
  label: '[EMAIL]',
  userOnly: false,
  allowedPhrases: [],
};

const START: GenerationEvent = { type: 'start', format: 'chat' };
const END: GenerationEvent = { type: 'end', finish: 'stop' };
const text = (words: string): Block => ({ type: 'text', text: words });
const start = (index: number, block: Block): GenerationEvent => ({ type: 'block-start', index, block });
const delta = (index: number, words: string): GenerationEvent => ({ type: 'block-delta', index, text: words });
const end = (index: number): GenerationEvent => ({ type: 'block-end', index });

function answerOf(batches: readonly EventBatch[]): UpstreamResponse {
  const left = [...batches];
  return {
    // Not used here.
    candidate: undefined as unknown as UpstreamResponse['candidate'],
    source: { read: () => Promise.resolve(left.shift()), cancel: () => undefined },
    startedMs: 0,
    firstTokenMs: 0,
    echoes: [],
  };
}

interface Seen {
  readonly batches: readonly EventBatch[];
  readonly events: readonly GenerationEvent[];
  readonly stages: readonly unknown[];
  readonly error: unknown;
  /** Of what was blocked. */
  readonly answerBytes: number;
}

async function inspect(rules: readonly FilterRule[], batches: readonly EventBatch[]): Promise<Seen> {
  const facts = sampleFacts();
  const sources = rules.map(() => ({ guardrailId: 'g', name: 'G', scope: 'api-key' as const }));
  const { signal } = new AbortController();
  const { source } = await filterResponse({ inspector }, answerOf(batches), {
    facts,
    filters: { rules, sources },
    signal,
  });
  const seen: EventBatch[] = [];
  let error: unknown;
  try {
    for (let batch = await source.read(); batch !== undefined; batch = await source.read()) seen.push(batch);
  } catch (reason) {
    error = reason;
  }
  return { batches: seen, events: seen.flat(), stages: facts.report.pipeline, error, answerBytes: facts.meter.bytes };
}

function textIn(events: readonly GenerationEvent[]): string {
  return foldEvents(events)
    .blocks.map((block) => ('text' in block ? block.text : ''))
    .join('');
}

suite('an answer that filters look through', () => {
  const stated = 'Write to ann.lee@example.com, or to bob@example.org. Nobody else, please: not x@y.';
  const cleaned = 'Write to [EMAIL], or to [EMAIL]. Nobody else, please: not x@y.';

  // @spec filter-13
  test('is cleaned the same wherever it is cut in two', async () => {
    for (let cut = 0; cut <= stated.length; cut++) {
      const first = [START, start(0, text('')), delta(0, stated.slice(0, cut))];
      const { events } = await inspect([EMAIL], [first, [delta(0, stated.slice(cut)), end(0), END]]);
      assert.equal(textIn(events), cleaned, `cut at ${cut}`);
      checkEvents(events);
    }
  });

  test('is cleaned the same letter by letter, however long it is', async () => {
    const long = `${'The weather is fine. '.repeat(60)}${stated} ${'And so it goes on. '.repeat(60)}${stated}`;
    const batches = Array.from(long).map((letter): EventBatch => [delta(0, letter)]);
    const { events, batches: seen } = await inspect(
      [EMAIL, pattern('\\bfine\\b'), pattern('zz{2,8}')],
      [[START, start(0, text(''))], ...batches, [end(0), END]],
    );
    assert.equal(textIn(events), long.replaceAll(stated, cleaned).replaceAll('fine', '[X]'));
    checkEvents(events);
    assert.ok(seen.length > 20, 'most of it goes out while the rest is coming');
  });

  test('is never cut in the middle of a character', async () => {
    const long = '👩‍🚀🚀'.repeat(500);
    const batches = Array.from(long).map((letter): EventBatch => [delta(0, letter)]);
    const { events } = await inspect([pattern('x{10}')], [[START, start(0, text(''))], ...batches, [end(0), END]]);
    assert.equal(textIn(events), long);
    for (const event of events)
      if (event.type === 'block-delta') assert.ok(event.text?.isWellFormed(), JSON.stringify(event.text));
  });

  test('ends with the error where something blocks, and what blocked never went out', async () => {
    const batches = Array.from(`${'Nothing here. '.repeat(40)}The code is swordfish, keep it.`).map((letter) => [
      delta(0, letter),
    ]);
    const { events, error, stages } = await inspect(
      [pattern('swordfish', 'block', 'CODE')],
      [[START, start(0, text(''))], ...batches, [end(0), END]],
    );
    assert.ok(error instanceof GatewayError);
    assert.deepEqual([error.status, error.message], [403, 'Response blocked by content filter: [BLOCKED]']);
    assert.ok(textIn(events).includes('Nothing here'));
    assert.ok(!textIn(events).includes('sword'), textIn(events).slice(-40));
    assert.equal(stages.length, 1);
  });

  test('reports a rule once, however often it matches', async () => {
    const { events, stages } = await inspect(
      [pattern('rain', 'flag')],
      [[START, start(0, text('rain ')), delta(0, 'rain '), end(0), start(1, text('rain')), end(1), END]],
    );
    assert.equal(textIn(events), 'rain rain rain');
    assert.equal(stages.length, 1);
  });

  test('keeps arguments of tools whole, and JSON', async () => {
    const input = JSON.stringify({ to: 'ann@example.com', note: 'a "quoted" b@example.com', n: 1.5 });
    const call: Block = { type: 'tool-call', id: 'c', name: 'send', input: '', runBy: 'caller' };
    const batches = Array.from(input).map((letter): EventBatch => [delta(1, letter)]);
    const { events } = await inspect(
      [EMAIL],
      [[START, start(0, text('Ok.')), end(0), start(1, call)], ...batches, [end(1), END]],
    );
    const [, block] = foldEvents(events).blocks;
    assert.ok(block?.type === 'tool-call');
    assert.deepEqual(JSON.parse(block.input), { to: '[EMAIL]', note: 'a "quoted" [EMAIL]', n: 1.5 });
  });

  test('loses the signature of reasoning that changed, and keeps that of other reasoning', async () => {
    const reasoning: Block = { type: 'reasoning', form: 'text', text: '' };
    const sign = (index: number): GenerationEvent => ({ type: 'block-delta', index, signature: 'signed' });
    const { events } = await inspect(
      [EMAIL],
      [
        [START, start(0, reasoning), delta(0, 'ann@exam'), delta(0, 'ple.com'), sign(0), end(0)],
        [start(1, reasoning), delta(1, 'It is fine.'), sign(1), end(1), END],
      ],
    );
    const [first, second] = foldEvents(events).blocks;
    assert.ok(first?.type === 'reasoning' && second?.type === 'reasoning');
    assert.deepEqual([first.text, first.signature], ['[EMAIL]', undefined]);
    assert.deepEqual([second.text, second.signature], ['It is fine.', 'signed']);
  });

  test('counts in full when it is blocked, and measures nothing twice, in any chunks', async (t) => {
    const call: Block = { type: 'tool-call', id: 'c', name: 'send', input: '', runBy: 'caller' };
    const input = JSON.stringify({ note: 'é'.repeat(3_000), code: 'TOP-SECRET' });
    const pieces = input.match(/.{1,4}/gs) ?? [];
    let chars = 0;
    t.mock.method(Buffer, 'byteLength', (measured: string) => {
      chars += measured.length;
      return Buffer.from(measured).length;
    });
    const batches = [[START, start(0, call)], ...pieces.map((piece) => [delta(0, piece)]), [end(0), END]];
    const { error, answerBytes } = await inspect([pattern('TOP-SECRET', 'block')], batches);
    assert.ok(error instanceof GatewayError);
    assert.equal(answerBytes, Buffer.from(input).length);
    assert.ok(chars <= input.length, `${chars} of ${input.length}`);
  });

  test('delivers what came when it breaks off silently', async () => {
    const { events } = await inspect([EMAIL], [[START, start(0, text('Call ann@example.com'))]]);
    assert.equal(textIn(events), 'Call [EMAIL]');
  });

  test('goes by as it is where no filter looks at answers', async () => {
    const answer = answerOf([]);
    const question = {
      facts: sampleFacts(),
      filters: { rules: [], sources: [] },
      signal: new AbortController().signal,
    };
    assert.equal(await filterResponse({ inspector }, answer, question), answer);
  });
});
