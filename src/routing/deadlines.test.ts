import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest } from '../canonical/request.ts';
import { createDeadlines, requestClassOf, type Deadlines } from './deadlines.ts';
import { modelOf, priced, requestOf } from '../../tests/support/route-plan.ts';

const [endpoint] = modelOf('acme/one', priced('p', 1)).endpoints;
assert.ok(endpoint);

function start(): { readonly deadlines: Deadlines; readonly pass: (ms: number) => void } {
  let now = 1_000_000;
  const deadlines = createDeadlines({ clock: { nowMs: () => now, monotonicMs: () => now } });
  return { deadlines, pass: (ms) => (now += ms) };
}

function classOf(settings: GenerationRequest['settings'], delivery: 'stream' | 'whole', text = 'hi'): number {
  assert.ok(endpoint);
  const request = requestOf({ settings });
  return requestClassOf(
    { ...request, delivery, turns: [{ role: 'user', blocks: [{ type: 'text', text }] }] },
    endpoint,
  );
}

const PLAIN = classOf({}, 'stream');
const WHOLE = classOf({}, 'whole');
const THINKING = classOf({ reasoning: { effort: 'medium' } }, 'stream');

function learn(deadlines: Deadlines, requestClass: number, ms: number, times: number): void {
  for (let at = 0; at < times; at++) deadlines.answered('p m', requestClass, ms);
}

suite('fewer than 20 samples', () => {
  // @spec fallback-12
  test('give a stream without reasoning 20 s, and everything else what is configured', () => {
    const { deadlines } = start();
    for (const requestClass of [PLAIN, WHOLE, THINKING]) learn(deadlines, requestClass, 100, 19);
    assert.deepEqual(deadlines.find('p m', PLAIN), { limitMs: 20_000, basis: 'few_samples', samples: 19 });
    for (const requestClass of [WHOLE, THINKING])
      assert.deepEqual(deadlines.find('p m', requestClass), { limitMs: undefined, basis: 'configured', samples: 19 });
  });

  test('are those of an endpoint without history', () => {
    assert.equal(start().deadlines.find('p other', PLAIN).limitMs, 20_000);
    assert.equal(start().deadlines.find('p other', WHOLE).limitMs, undefined);
  });
});

suite('20 samples and more', () => {
  // @spec fallback-12
  test('give three times the p99, and never less than 10 s', () => {
    const { deadlines } = start();
    learn(deadlines, WHOLE, 100, 20);
    assert.equal(deadlines.find('p m', WHOLE).limitMs, 10_000);
    learn(deadlines, THINKING, 30_000, 200);
    const { limitMs = 0, p99Ms = 0, basis } = deadlines.find('p m', THINKING);
    assert.equal(basis, 'history');
    assert.ok(p99Ms >= 30_000 && p99Ms < 33_000, `${p99Ms}`);
    assert.equal(limitMs, 3 * p99Ms);
  });

  test('keep the classes of requests apart', () => {
    const { deadlines } = start();
    learn(deadlines, THINKING, 60_000, 50);
    learn(deadlines, PLAIN, 100, 50);
    assert.equal(deadlines.find('p m', PLAIN).limitMs, 10_000);
    assert.ok((deadlines.find('p m', THINKING).limitMs ?? 0) >= 180_000);
  });

  test('follow an endpoint that changes its pace within some ten answers', () => {
    const { deadlines } = start();
    learn(deadlines, WHOLE, 1_000, 5_000);
    learn(deadlines, WHOLE, 20_000, 11);
    assert.ok((deadlines.find('p m', WHOLE).limitMs ?? 0) >= 60_000);
    learn(deadlines, WHOLE, 1_000, 1_100);
    assert.equal(deadlines.find('p m', WHOLE).limitMs, 10_000);
  });

  test('are forgotten after hours', () => {
    const { deadlines, pass } = start();
    learn(deadlines, PLAIN, 100, 50);
    pass(60 * 60_000);
    assert.equal(deadlines.find('p m', PLAIN).samples, 50);
    pass(2 * 60 * 60_000);
    assert.equal(deadlines.find('p m', PLAIN).samples, 0);
  });
});

suite('an attempt that was cut', () => {
  // @spec fallback-14
  test('counts as a sample of twice its limit once the endpoint answers again', () => {
    const { deadlines } = start();
    learn(deadlines, PLAIN, 100, 30);
    deadlines.cut('p m', PLAIN, 10_000);
    assert.equal(deadlines.find('p m', PLAIN).samples, 30);
    learn(deadlines, PLAIN, 100, 1);
    const { limitMs = 0, samples } = deadlines.find('p m', PLAIN);
    assert.equal(samples, 32);
    assert.ok(limitMs >= 60_000 && limitMs < 66_000, `${limitMs}`);
  });

  test('does not raise the limit of the next attempt at a silent endpoint', () => {
    const { deadlines } = start();
    learn(deadlines, PLAIN, 100, 30);
    for (let at = 0; at < 100; at++) deadlines.cut('p m', PLAIN, 10_000);
    assert.equal(deadlines.find('p m', PLAIN).limitMs, 10_000);
  });

  test('counts each time between responses, so that an endpoint that is sometimes slow gets its time', () => {
    const { deadlines } = start();
    for (let round = 0; round < 100; round++) {
      learn(deadlines, PLAIN, 100, 49);
      deadlines.cut('p m', PLAIN, 10_000);
    }
    assert.ok((deadlines.find('p m', PLAIN).limitMs ?? 0) >= 60_000);
  });
});

// @spec fallback-15
test('classifies by delivery, depth of reasoning, size of the prompt, and maximum of a response without streaming', () => {
  const classes = [
    PLAIN,
    WHOLE,
    THINKING,
    classOf({ maxTokens: 100 }, 'whole'),
    classOf({}, 'stream', 'x'.repeat(20_000)),
    classOf({}, 'stream', 'x'.repeat(200_000)),
    classOf({ reasoning: { effort: 'high' } }, 'stream'),
    classOf({ reasoning: { effort: 'high' } }, 'whole'),
    classOf({ reasoning: { maxTokens: 4_000 } }, 'whole'),
  ];
  assert.equal(new Set(classes).size, classes.length);
  assert.equal(classOf({ maxTokens: 100 }, 'stream'), PLAIN);
  assert.equal(classOf({ reasoning: { effort: 'none' } }, 'stream'), PLAIN);
  assert.equal(classOf({ reasoning: { enabled: false } }, 'stream'), PLAIN);
  assert.equal(
    classOf({ reasoning: { maxTokens: 30_000 } }, 'stream'),
    classOf({ reasoning: { effort: 'max' } }, 'stream'),
  );
});

test('gives a reasoning endpoint time when the request does not mention reasoning', () => {
  assert.ok(endpoint);
  const reasoner = { ...endpoint, supportedParameters: new Set(['reasoning']) };
  const request = { ...requestOf({}), delivery: 'stream' } as const;
  assert.equal(requestClassOf(request, reasoner), THINKING);
  const silenced = { ...request, settings: { reasoning: { effort: 'none' } } } as const;
  assert.equal(requestClassOf(silenced, reasoner), PLAIN);
});

test('forgets endpoints beyond the bound, the one unused for longest first', () => {
  const { deadlines } = start();
  for (let at = 0; at < 1_001; at++)
    for (let sample = 0; sample < 20; sample++) deadlines.answered(`p ${at}`, WHOLE, 100);
  assert.equal(deadlines.find('p 0', WHOLE).samples, 0);
  assert.equal(deadlines.find('p 1000', WHOLE).samples, 20);
});
