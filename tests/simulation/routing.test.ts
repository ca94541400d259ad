import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { simulate, type SimulationOptions } from './simulate.ts';
import type { Findings } from './observe.ts';

/** A million in CI: `SIMULATION_REQUESTS=1000000`. One failing seed again: `SIMULATION_SEED=7`. */
const REQUESTS = Number(process.env['SIMULATION_REQUESTS'] ?? 60_000);
const SEEDS = process.env['SIMULATION_SEED'] === undefined ? [1, 2] : [Number(process.env['SIMULATION_SEED'])];

/** Tells how the run is repeated. */
function check({ seed, requests }: SimulationOptions, isTrue: boolean, message: string): void {
  assert.ok(
    isTrue,
    `${message}\nAgain: SIMULATION_SEED=${seed} SIMULATION_REQUESTS=${requests} node --test tests/simulation/routing.test.ts`,
  );
}

for (const seed of SEEDS)
  suite(`routing through outages, brown-outs, limits, flapping and new prices, seed ${seed}`, () => {
    const options = { seed, requests: Math.ceil(REQUESTS / SEEDS.length) };
    const findings: Findings = simulate(options);

    test('loses no request that somebody would have answered, hammers nobody, and finds out within 30 s who works again', () => {
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

    test('asks no endpoint twice for one request', () => {
      check(options, findings.attemptsMax <= 7, `${findings.attemptsMax} attempts`);
    });

    test('keeps sessions where they are as long as their endpoint works', () => {
      const { stickyHits: hits, stickyMisses: misses } = findings;
      check(options, hits > 0 && hits / (hits + misses) > 0.99, `${hits} hits, ${misses} misses`);
    });
  });

test('the checks bite: a router without memory, and one without probes, are found out', () => {
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
  assert.match(resigned.violations.join('\n'), /nobody looked at/);
});

test('a run is the same each time', () => {
  assert.deepEqual(simulate({ seed: 3, requests: 3_000 }), simulate({ seed: 3, requests: 3_000 }));
});
