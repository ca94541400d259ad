import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { FilterRule, InspectedText, TextInspector } from './contract.ts';
import { createTextInspector } from './inspector.ts';

const { signal } = new AbortController();
const pattern = (text: string, action: FilterRule['action'], label = '[X]'): FilterRule => ({
  kind: 'pattern',
  pattern: text,
  action,
  label,
  name: text,
});
const builtin = (slug: 'person-name' | 'email' | 'address', action: FilterRule['action']): FilterRule => ({
  kind: 'builtin',
  slug,
  action,
  label: `[${slug}]`,
  userOnly: false,
  allowedPhrases: [],
});
const plain = (text: string): InspectedText => ({ text, form: 'plain', byUser: true });

/** Takes a backtracking engine years over the text below, and no rule forbids it. */
const ENDLESS = '(?:x|xx|xxx|xxxx){1,100}(?:x|xx|xxx|xxxx){1,100}y';
const BUSY_TEXT = 'x'.repeat(5_000);

suite('the inspector', () => {
  // What it finds does not depend on how busy the machine is.
  const inspector = createTextInspector({ scanMsMax: 60_000, lenientScanMsMax: 60_000 });
  const hasty = createTextInspector({ scanMsMax: 300 });
  after(() => Promise.all([inspector.close(), hasty.close()]));

  test('finds the same in a thread as at once', async () => {
    const rules = [
      builtin('email', 'redact'),
      pattern('secret-\\d+', 'redact', '[S]'),
      builtin('person-name', 'redact'),
      pattern('plan', 'flag'),
    ];
    const short = 'The plan of Michael Johnson <mj@example.com> is secret-42.';
    const long = `${short} ${'Nothing else to see. '.repeat(40_000)}`;
    const atOnce = await inspector.inspect([plain('Nothing.'), plain(short)], rules, signal);
    const later = await inspector.inspect([plain('Nothing.'), plain(long)], rules, signal);
    assert.deepEqual(later.hits, atOnce.hits);
    assert.deepEqual(
      atOnce.hits.map(({ rule }) => rule),
      [0, 1, 2, 3],
    );
    assert.equal(atOnce.redacted.get(1)?.text, 'The plan of [person-name] <[email]> is [S].');
    assert.ok(later.redacted.get(1)?.text.startsWith('The plan of [person-name] <[email]> is [S]. Nothing'));
    assert.deepEqual(later.redacted.get(1)?.marks, atOnce.redacted.get(1)?.marks, 'places in the text as it was');
    assert.deepEqual([later.skipped, later.unfinished], [[], []]);
  });

  test('neither stops the process nor lets anything through for a pattern without an end', async () => {
    let turns = 0;
    const ticking = setInterval(() => turns++, 10);
    const { unfinished, skipped, hits } = await hasty.inspect(
      [plain(BUSY_TEXT)],
      [builtin('email', 'redact'), pattern(ENDLESS, 'block'), pattern('x', 'flag')],
      signal,
    );
    clearInterval(ticking);
    assert.ok(turns > 3, 'other work went on meanwhile');
    assert.deepEqual([unfinished, skipped, hits], [[1], [], [{ rule: 2, patterns: ['x'] }]]);
    const next = await hasty.inspect([plain(BUSY_TEXT)], [pattern('x{4}x', 'block')], signal);
    assert.equal(next.hits.length, 1, 'the next one is served');
  });

  // @spec filter-14
  test('lets pass what a flagging filter could not search', async () => {
    const { unfinished, skipped } = await hasty.inspect([plain(BUSY_TEXT)], [pattern(ENDLESS, 'flag')], signal);
    assert.deepEqual([unfinished, skipped], [[], [0]]);
  });

  // @spec filter-14
  test('lets pass what the filters of names and addresses could not search', async () => {
    const impatient = createTextInspector({ scanMsMax: 0 });
    const text = 'Mr. Smith lives at 12 Long Road. '.repeat(20_000);
    const late = await impatient.inspect([plain(text)], [builtin('person-name', 'block')], signal);
    await impatient.close();
    // A thread may be faster than a timer of nothing.
    assert.deepEqual(late.unfinished, []);
    assert.ok(late.skipped.length === 1 || late.hits.length === 1);
  });

  test('returns 408 when the caller has gone', async () => {
    const controller = new AbortController();
    const waiting = inspector.inspect([plain(BUSY_TEXT)], [pattern(ENDLESS, 'block')], controller.signal);
    setTimeout(() => controller.abort(), 30);
    await assert.rejects(waiting, (error) => error instanceof GatewayError && error.status === 408);
  });

  // @spec filter-15
  test('answers 503 when too many wait, and leaves flags out', async () => {
    const crowded = createTextInspector({ scanMsMax: 2_000 });
    const controller = new AbortController();
    const ask = (action: FilterRule['action']): ReturnType<TextInspector['inspect']> =>
      crowded.inspect([plain(BUSY_TEXT)], [pattern(ENDLESS, action)], controller.signal);
    const waiting = Array.from({ length: 258 }, () => ask('block').catch((error: unknown) => error));
    const [refused, flagged] = await Promise.all([ask('block').catch((error: unknown) => error), ask('flag')]);
    assert.ok(refused instanceof GatewayError);
    assert.deepEqual([refused.status, refused.retryAfterMs], [503, 1_000]);
    assert.deepEqual(flagged.skipped, [0]);
    controller.abort();
    await Promise.all(waiting);
    await crowded.close();
  });

  test('holds back as much of a response as its longest match takes, within a bound', async () => {
    const charsOf = async (rules: readonly FilterRule[]): Promise<number> => (await inspector.windowOf(rules)).chars;
    assert.equal(await charsOf([pattern('abc', 'flag'), pattern('\\d{2,9}', 'flag')]), 9);
    assert.equal(await charsOf([pattern('a+', 'flag')]), 1_024);
    assert.equal(await charsOf([]), 0);
  });

  test('begins a match of any length only behind what no match goes over', async () => {
    const windowOf = (expression: string) => inspector.windowOf([pattern('x', 'block'), pattern(expression, 'block')]);
    const openStartOf = async (expression: string, text: string): Promise<number> =>
      (await windowOf(expression)).openStart(text);
    assert.deepEqual((await windowOf('a+')).longRules, [1]);
    assert.equal(await openStartOf('project-\\d+', 'one two proj'), 'one two '.length);
    assert.equal(await openStartOf('(?i:key)\\s*=\\s*\\w+', 'one, KEY = abc'), 4);
    assert.equal(await openStartOf('BEGIN[\\s\\S]*?END', 'any text. at\nall'), 0);
    assert.equal(await openStartOf('secret.*end', 'first line\nsecond'), 'first line\n'.length);
    // Invisible characters may be part of a match.
    assert.equal(await openStartOf('a+', 'b aa\u200Ba'), 2);
    const flagging = await inspector.windowOf([pattern('a+', 'flag')]);
    assert.deepEqual([flagging.longRules, flagging.openStart('aaa')], [[], 3]);
  });
});
