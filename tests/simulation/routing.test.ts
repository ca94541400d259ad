import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { simulate, type SimulationOptions } from './simulate.ts';
import type { Findings } from './observe.ts';
import { simulateSlowModels } from './slow-models.ts';

/** A million in CI: `SIMULATION_REQUESTS=1000000`. One failing seed again: `SIMULATION_SEED=7`. */
const REQUESTS = Number(process.env['SIMULATION_REQUESTS'] ?? 60_000);
const SEEDS = process.env['SIMULATION_SEED'] === undefined ? [1, 2] : [Number(process.env['SIMULATION_SEED'])];

/** Tells how the run is repeated. */
function check(
  { seed, requests }: Pick<SimulationOptions, 'seed' | 'requests'>,
  isTrue: boolean,
  message: string,
): void {
  assert.ok(
    isTrue,
    `${message}\nAgain: SIMULATION_SEED=${seed} SIMULATION_REQUESTS=${requests} node --test tests/simulation/routing.test.ts`,
  );
}

for (const seed of SEEDS)
  suite(`routing through outages, brown-outs, limits, flapping and new prices, seed ${seed}`, () => {
    const options = { seed, requests: Math.ceil(REQUESTS / SEEDS.length) };
    const findings: Findings = simulate(options);

    test('loses no request that an endpoint could serve, hammers none, and notices recovery within 30 s', () => {
      check(options, findings.violations.length === 0, findings.violations.join('\n'));
      check(options, findings.probes > 0, 'nothing was probed');
    });

    test('gives each endpoint its share by 1 / price² within 2 percent', () => {
      check(options, findings.quietRequests > options.requests / 10, `only ${findings.quietRequests} quiet requests`);
      for (const { name, seen, due } of findings.shares) {
        // Chance alone moves a share by this much in one of a thousand runs.
        const chance = 3.3 * Math.sqrt((due * (1 - due)) / findings.quietRequests);
        check(
          options,
          Math.abs(seen - due) <= 0.02 * due + chance,
          `${name}: ${seen.toFixed(4)} instead of ${due.toFixed(4)}`,
        );
      }
    });

    test('calls no endpoint twice for one request', () => {
      check(options, findings.attemptsMax <= 7, `${findings.attemptsMax} attempts`);
    });

    test('keeps sessions while their endpoint works', () => {
      const { stickyHits: hits, stickyMisses: misses } = findings;
      check(options, hits > 0 && hits / (hits + misses) > 0.99, `${hits} hits, ${misses} misses`);
    });
  });

for (const seed of SEEDS)
  test(`leaves slow models their time and silent endpoints 10 s with adaptive deadlines, seed ${seed}`, () => {
    const options = { seed, requests: Math.ceil(REQUESTS / SEEDS.length) };
    const found = simulateSlowModels(options);
    check(options, found.slowHonest > options.requests / 10, `only ${found.slowHonest} slow answers`);
    check(options, found.silentAttempts > 0, 'no endpoint was silent');
    check(
      options,
      found.cutHonest <= found.slowHonest / 1_000,
      `${found.cutHonest} of ${found.slowHonest} slow honest answers were cut`,
    );
    check(options, found.silentWaitMaxMs < 10_001, `a silent endpoint cost ${found.silentWaitMaxMs} ms`);
    check(options, found.lost <= options.requests / 5_000, `${found.lost} requests were lost`);
  });

test('detects one limit for all models, which cuts slow ones, and no limit, which lets silent ones wait', () => {
  const options = { seed: 1, requests: 60_000 };
  const hasty = simulateSlowModels({
    ...options,
    replaceDeadlines: (own) => ({ ...own, find: (...of) => ({ ...own.find(...of), limitMs: 10_000 }) }),
  });
  assert.ok(hasty.cutHonest > hasty.slowHonest / 10, `${hasty.cutHonest} of ${hasty.slowHonest}`);
  const patient = simulateSlowModels({
    ...options,
    replaceDeadlines: (own) => ({ ...own, find: (...of) => ({ ...own.find(...of), limitMs: undefined }) }),
  });
  assert.ok(patient.silentWaitMaxMs >= 120_000, `${patient.silentWaitMaxMs} ms`);
});

test('detects a router without memory, and one without probes', () => {
  const forgetful = simulate({
    seed: 1,
    requests: 60_000,
    replaceHealth: (health) => ({
      ...health,
      begin: () => 'free',
      look: () => ({ rank: 0, open: false, probeDue: false }),
    }),
  });
  assert.match(forgetful.violations.join('\n'), /before the time that it had named|hammered/);
  const resigned = simulate({
    seed: 1,
    requests: 60_000,
    replaceHealth: (health) => ({ ...health, look: (name) => ({ ...health.look(name), probeDue: false }) }),
  });
  assert.match(resigned.violations.join('\n'), /no request tried . after its recovery/);
});

test('is reproducible', () => {
  assert.deepEqual(simulate({ seed: 3, requests: 3_000 }), simulate({ seed: 3, requests: 3_000 }));
});
