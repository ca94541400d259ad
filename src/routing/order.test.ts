import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { EndpointHealth } from './health.ts';
import { serializeStage } from './stage.ts';
import {
  modelOf,
  priced,
  providersOf,
  reasonsOf,
  requestOf,
  routeOf,
  TOOL_REQUEST,
  type ProviderMetrics,
} from '../../tests/support/route-plan.ts';

const DOWN: EndpointHealth = { rank: 2, open: false, probeDue: false };
const OPEN: EndpointHealth = { rank: 2, open: true, probeDue: false };
const DEGRADED: EndpointHealth = { rank: 1, open: false, probeDue: false };
const DUE: EndpointHealth = { rank: 2, open: true, probeDue: true };

const abc = modelOf('acme/one', priced('a', 1), priced('b', 2), priced('c', 3));

suite('balancing', () => {
  // @spec route-25
  test('draws the first by 1 / price², and its fallbacks by the same draw', () => {
    const first: Record<string, number> = {};
    const second: Record<string, number> = {};
    const draws = 49_000;
    for (let sample = 0; sample < draws; sample++) {
      const [one = '', other = ''] = providersOf(routeOf([abc], { random: (sample + 0.5) / draws }));
      first[one] = (first[one] ?? 0) + 1 / draws;
      if (one === 'a') second[other] = (second[other] ?? 0) + 1;
    }
    // 1 : 1/4 : 1/9 = 36 : 9 : 4
    for (const [name, share] of [
      ['a', 36 / 49],
      ['b', 9 / 49],
      ['c', 4 / 49],
    ] as const)
      assert.ok(Math.abs((first[name] ?? 0) - share) < 0.001, `${name} ${first[name]}`);
    assert.ok(Math.abs((second['b'] ?? 0) / (second['c'] ?? 1) - 9 / 4) < 0.05);
  });

  // @spec route-25
  test("is the specification's example: A nine times as likely as C, and B that fails last", () => {
    const first: Record<string, number> = {};
    for (let sample = 0; sample < 1_000; sample++) {
      const names = providersOf(routeOf([abc], { random: sample / 1_000, health: { b: DOWN } }));
      assert.equal(names[2], 'b');
      first[names[0] ?? ''] = (first[names[0] ?? ''] ?? 0) + 1;
    }
    assert.deepEqual(first, { a: 900, c: 100 });
  });

  // @spec route-26
  test('takes free ones first, and one of unknown price for the dearest', () => {
    const mixed = modelOf(
      'acme/one',
      priced('unknown', undefined),
      priced('dear', 10),
      priced('free', 0),
      priced('cheap', 1),
    );
    assert.equal(providersOf(routeOf([mixed], { random: 0.5 }))[0], 'free');
    const seen = new Set(
      Array.from({ length: 200 }, (_, at) => providersOf(routeOf([mixed], { random: at / 200 }))[1]),
    );
    assert.ok(seen.has('cheap') && seen.has('unknown') && seen.has('dear'));
  });

  // @spec route-27
  test('puts degraded ones behind normal ones and before failing ones, and an open circuit behind the other models', () => {
    const health = { a: DEGRADED, b: DOWN };
    assert.deepEqual(providersOf(routeOf([abc], { health })), ['c', 'a', 'b']);
    const other = modelOf('acme/two', priced('z', 1));
    assert.deepEqual(providersOf(routeOf([abc, other], { health: { a: OPEN } })), ['b', 'c', 'z', 'a']);
  });

  test('puts a due probe first, with the others as fallback, unless there are none', () => {
    const route = routeOf([abc], { health: { c: DUE } });
    assert.deepEqual(providersOf(route), ['c', 'a', 'b']);
    assert.deepEqual(
      route.candidates.map(({ probe }) => probe),
      [true, undefined, undefined],
    );
    assert.deepEqual(providersOf(routeOf([abc], { health: { c: DUE }, prefer: { allowFallbacks: false } })), ['a']);
  });
});

suite('provider.sort', () => {
  const metrics: Readonly<Record<string, ProviderMetrics>> = {
    a: { latency: 3, throughput: 10 },
    b: { latency: 1, throughput: 90 },
  };

  for (const [by, expected] of [
    ['price', 'abc'],
    ['latency', 'bac'],
    ['throughput', 'bac'],
  ] as const)
    // @spec route-13
    test(`is a strict order without chance by ${by}, with unmeasured endpoints last`, () => {
      for (const random of [0, 0.5, 0.99])
        assert.equal(
          providersOf(routeOf([abc], { random, metrics: metrics, prefer: { sort: { by } } })).join(''),
          expected,
        );
    });

  test('keeps its order among those that work, and puts failing ones last', () => {
    assert.deepEqual(
      providersOf(routeOf([abc], { health: { a: DOWN, b: DEGRADED }, prefer: { sort: { by: 'price' } } })),
      ['b', 'c', 'a'],
    );
    assert.deepEqual(providersOf(routeOf([abc], { health: { b: DUE }, prefer: { sort: { by: 'price' } } })), [
      'a',
      'b',
      'c',
    ]);
  });

  const two = modelOf('acme/two', priced('y', 1.5), priced('z', 0.5));

  // @spec route-14
  test('goes through the models one by one, and through all endpoints together with the partition "none"', () => {
    const sort = { by: 'price' } as const;
    assert.deepEqual(providersOf(routeOf([abc, two], { prefer: { sort } })), ['a', 'b', 'c', 'z', 'y']);
    assert.deepEqual(providersOf(routeOf([abc, two], { prefer: { sort: { ...sort, partition: 'none' } } })), [
      'z',
      'a',
      'y',
      'b',
      'c',
    ]);
  });

  test('balances over all models with only a partition', () => {
    const sort = { partition: 'none' } as const;
    const seen = new Set(
      Array.from({ length: 50 }, (_, at) => providersOf(routeOf([abc, two], { random: at / 50, prefer: { sort } }))[0]),
    );
    assert.ok(seen.has('z') && seen.has('a'));
  });
});

suite('provider.order', () => {
  // @spec model-18, route-2
  test('goes first, the others follow by price without chance, and beats a sort and a suffix', () => {
    for (const random of [0, 0.9])
      assert.deepEqual(
        providersOf(
          routeOf([abc], {
            random,
            prefer: { order: ['b'], sort: { by: 'latency' } },
            shortcuts: new Map([[abc, 'nitro']]),
          }),
        ),
        ['b', 'a', 'c'],
      );
  });

  test('does not hold on to one that fails', () => {
    assert.deepEqual(providersOf(routeOf([abc], { prefer: { order: ['c', 'b'] }, health: { c: DOWN } })), [
      'b',
      'a',
      'c',
    ]);
  });
});

suite('soft bounds', () => {
  const metrics = { a: { latency: 5, throughput: 20 }, b: { latency: 1, throughput: 80 } };

  // @spec route-16
  test('send those that miss them to the end, keep the order, and say so', () => {
    const route = routeOf([abc], { metrics: metrics, prefer: { preferredMaxLatency: { p90: 2 } } });
    assert.deepEqual(providersOf(route), ['b', 'c', 'a']);
    assert.deepEqual(
      route.considered.map(({ demotion }) => demotion),
      ['preferred_max_latency', undefined, undefined],
    );
    assert.deepEqual(serializeStage(route)?.data, {
      ordering: 'balanced',
      demoted: [{ provider: 'A', model: 'acme/one', reason: 'preferred_max_latency' }],
    });
    assert.deepEqual(
      providersOf(routeOf([abc], { metrics: metrics, prefer: { preferredMinThroughput: { p50: 50 } } })),
      ['b', 'c', 'a'],
    );
  });

  // @spec route-16
  test('must all hold, each at its percentile', () => {
    const prefer = { preferredMinThroughput: { p50: 10, p90: 50 }, preferredMaxLatency: { p50: 0.5 } };
    assert.deepEqual(providersOf(routeOf([abc], { metrics: metrics, prefer })), ['c', 'a', 'b']);
  });

  // @spec route-16
  test('may put a fallback model first', () => {
    const slow = modelOf('acme/one', priced('a', 1));
    const fast = modelOf('acme/two', priced('b', 1));
    assert.deepEqual(
      providersOf(routeOf([slow, fast], { metrics: metrics, prefer: { preferredMaxLatency: { p50: 2 } } })),
      ['b', 'a'],
    );
  });
});

suite('the quality order', () => {
  const peers = modelOf('acme/one', ...['a', 'b', 'c', 'd', 'e'].map((name, at) => priced(name, 1 + at)));
  const good = { throughput: 50, requests: 200, toolRequests: 400, toolFailures: 4 };
  const varied = (changes: Readonly<Record<string, ProviderMetrics>>): Readonly<Record<string, ProviderMetrics>> => ({
    a: good,
    b: { ...good, throughput: 52, toolFailures: 6 },
    c: { ...good, throughput: 49, toolFailures: 2 },
    d: { ...good, throughput: 51, toolFailures: 5 },
    ...changes,
  });

  // @spec route-22, route-23
  test('runs by itself where tools are offered: good ones, unknown ones, then those worse than their peers', () => {
    const broken = routeOf([peers], { request: TOOL_REQUEST, metrics: varied({ a: { ...good, toolFailures: 200 } }) });
    assert.equal(broken.ordering, 'exacto');
    assert.deepEqual(providersOf(broken), ['b', 'c', 'd', 'e', 'a']);
    const slow = routeOf([peers], { request: TOOL_REQUEST, metrics: varied({ b: { ...good, throughput: 5 } }) });
    assert.deepEqual(providersOf(slow), ['a', 'c', 'd', 'e', 'b']);
  });

  // @spec route-22
  test('needs four that can be compared, and enough requests', () => {
    const few = { a: { ...good, toolFailures: 399 }, b: good, c: good };
    assert.equal(providersOf(routeOf([peers], { request: TOOL_REQUEST, metrics: few })).at(-1), 'e');
    const rare = varied({ a: { ...good, toolRequests: 199, toolFailures: 199 } });
    assert.notEqual(providersOf(routeOf([peers], { request: TOOL_REQUEST, metrics: rare })).at(-1), 'a');
  });

  // @spec model-14, route-23
  test('is requested by name, and declined by a sort, an order or ":floor"', () => {
    const orderingOf = (given: Parameters<typeof routeOf>[1]): string => routeOf([peers], given).ordering;
    assert.equal(orderingOf({ prefer: { sort: { by: 'exacto' } } }), 'exacto');
    assert.equal(orderingOf({ shortcuts: new Map([[peers, 'exacto']]) }), 'exacto');
    assert.equal(orderingOf({ request: TOOL_REQUEST, prefer: { sort: { by: 'price' } } }), 'price');
    assert.equal(orderingOf({ request: TOOL_REQUEST, prefer: { order: ['a'] } }), 'order');
    assert.equal(orderingOf({ request: TOOL_REQUEST, shortcuts: new Map([[peers, 'floor']]) }), 'price');
    assert.equal(orderingOf({}), 'balanced');
  });
});

suite('service tiers', () => {
  const tiered = modelOf(
    'acme/one',
    priced('plain', 2),
    priced('quick', 4, { serviceTier: 'priority' }),
    priced('later', 1, { serviceTier: 'flex' }),
  );
  const metrics = { plain: { throughput: 50 }, quick: { throughput: 90 }, later: { throughput: 10 } };
  const names = (given: Parameters<typeof routeOf>[1]): string[] =>
    providersOf(routeOf([tiered], { metrics: metrics, ...given }));
  const asking = (serviceTier: string) => ({ request: requestOf({ settings: { serviceTier } }) });

  // @spec route-30
  test('stay out of the usual pool, and say so', () => {
    const route = routeOf([tiered]);
    assert.deepEqual(providersOf(route), ['plain']);
    assert.deepEqual(reasonsOf(route), { quick: 'service_tier', later: 'service_tier' });
    for (const tier of ['auto', 'default', 'scale']) assert.deepEqual(names(asking(tier)), ['plain']);
  });

  // @spec route-31, route-32
  test('put priority first with the others as fallback, or flex alone', () => {
    assert.deepEqual(names(asking('priority')), ['quick', 'plain']);
    assert.equal(routeOf([tiered], { metrics: metrics, ...asking('priority') }).ordering, 'throughput');
    assert.equal(routeOf([abc], asking('priority')).ordering, 'balanced', 'where there is none, as usual');
    assert.deepEqual(names(asking('flex')), ['later']);
    assert.deepEqual(providersOf(routeOf([abc], asking('flex'))), ['a', 'b', 'c'], 'where there is none, as usual');
  });

  // @spec model-14, route-33
  test('are enabled by ":nitro" and ":floor", unless "default" or an order says otherwise', () => {
    const nitro = { shortcuts: new Map([[tiered, 'nitro' as const]]) };
    const floor = { shortcuts: new Map([[tiered, 'floor' as const]]) };
    assert.deepEqual(names(nitro), ['quick', 'plain']);
    assert.deepEqual(names(floor), ['later', 'plain']);
    assert.deepEqual(names({ ...floor, ...asking('default') }), ['plain']);
    assert.deepEqual(names({ ...nitro, prefer: { order: ['plain'] } }), ['plain']);
  });

  // @spec route-7
  test('are named in order and only by their own slug, never by the base', () => {
    assert.deepEqual(names({ prefer: { only: ['quick/priority'] } }), ['quick']);
    assert.deepEqual(names({ prefer: { order: ['later/flex'] } }), ['later', 'plain']);
    assert.deepEqual(names({ prefer: { order: ['quick', 'plain'] } }), ['plain']);
  });
});

suite('what is kept where some support it', () => {
  const some = modelOf(
    'acme/one',
    priced('full', 3, { supportedParameters: new Set(['tools', 'verbosity']), outputTokensMax: 9_000 }),
    priced('poor', 1, { supportedParameters: new Set(['seed']), outputTokensMax: 1_000 }),
  );

  // @spec route-19
  test('keep endpoints that support tools and verbosity, and never leave a model without any', () => {
    assert.deepEqual(reasonsOf(routeOf([some], { request: TOOL_REQUEST })), { poor: 'preferred_parameters' });
    assert.deepEqual(providersOf(routeOf([some], { request: requestOf({ settings: { verbosity: 'low' } }) })), [
      'full',
    ]);
    const poor = modelOf(
      'acme/one',
      priced('x', 1, { supportedParameters: new Set() }),
      priced('y', 1, { supportedParameters: new Set() }),
    );
    assert.deepEqual(providersOf(routeOf([poor], { request: TOOL_REQUEST })), ['x', 'y']);
  });

  test('requires a context for the prompt and the longest response together, if one is large enough', () => {
    const sized = modelOf(
      'acme/one',
      priced('long', 3, { contextTokensMax: 20_000 }),
      priced('short', 1, { contextTokensMax: 10_000 }),
    );
    const turns = [{ role: 'user', blocks: [{ type: 'text', text: 'x'.repeat(6_000) }] }] as const;
    const asking = (maxTokens: number) => ({ request: requestOf({ turns, settings: { maxTokens } }) });
    assert.deepEqual(reasonsOf(routeOf([sized], asking(9_001))), { short: 'context_length' });
    assert.deepEqual(reasonsOf(routeOf([sized], asking(9_000))), {});
    assert.deepEqual(providersOf(routeOf([sized], asking(90_000))), ['long', 'short']);
  });

  test('keep endpoints for a long response, if there are any', () => {
    const asking = (maxTokens: number) => ({ request: requestOf({ settings: { maxTokens } }) });
    assert.deepEqual(reasonsOf(routeOf([some], asking(5_000))), { poor: 'max_tokens' });
    assert.deepEqual(providersOf(routeOf([some], asking(50_000))), ['full', 'poor']);
  });
});

suite('a session', () => {
  const sticky = () => 'c one-2026';

  test('goes to its endpoint first, with the others behind it, whatever the sort', () => {
    const route = routeOf([abc], { sticky });
    assert.deepEqual(providersOf(route), ['c', 'a', 'b']);
    assert.equal(route.sticky, 'c one-2026');
    assert.equal(providersOf(routeOf([abc], { sticky, prefer: { sort: { by: 'price' } } }))[0], 'c');
  });

  // @spec route-38
  test('does not hold under an order, at an endpoint that fails, or at one that is left out', () => {
    assert.equal(providersOf(routeOf([abc], { sticky, prefer: { order: ['b'] } }))[0], 'b');
    for (const given of [{ health: { c: DOWN } }, { prefer: { ignore: ['c'] } }]) {
      const route = routeOf([abc], { sticky, ...given });
      assert.notEqual(providersOf(route)[0], 'c');
      assert.equal(route.sticky, undefined);
    }
  });

  test('is not used to probe another endpoint', () => {
    const route = routeOf([abc], { sticky, health: { b: DUE } });
    assert.equal(providersOf(route)[0], 'c');
  });
});
