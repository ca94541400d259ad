import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ATTACKS } from './attacks.ts';
import { startStage } from './stage.ts';

/** `bounded`, as `npm run verify` runs it: the smallest limit alone. */
const isBounded = process.env['HOSTILE_FORM'] === 'bounded';
/** MB; 0: none. The middle one is that of deploy/compose.yaml. */
const LIMITS_MB = readLimits() ?? (isBounded ? [512] : [512, 1_536, 0]);
/** Half bodies end after 15 s, and their connections 5 s later. */
const ATTACK_MS = 25_000;
const REQUESTS_MIN = 10;

/** `HOSTILE_LIMITS_MB=1536,0`: these alone. */
function readLimits(): readonly number[] | undefined {
  return process.env['HOSTILE_LIMITS_MB']?.split(',').map(Number);
}

for (const limitMb of LIMITS_MB)
  suite(`a gateway ${limitMb === 0 ? 'without a limit' : `with ${limitMb} MB`}`, async () => {
    for (const attack of ATTACKS)
      // @spec operation-10
      test(`survives ${attack.name} and serves its other callers`, async (t) => {
        const stage = await startStage(limitMb, attack);
        t.after(() => stage.close());
        const { outcome, good, peakMb } = await stage.run(attack, ATTACK_MS);
        const seen = [...outcome.statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
        t.diagnostic(
          `${seen}; ${good.latenciesMs.length} good requests; peak ${Math.round(peakMb)} MB (${stage.gateway.keeper})`,
        );
        assert.equal(stage.gateway.ended(), undefined);
        if (stage.gateway.keeper === 'environment') assert.ok(limitMb === 0 || peakMb < limitMb, `${peakMb} MB`);
        assert.deepEqual(good.failures, []);
        assert.ok(good.latenciesMs.length >= REQUESTS_MIN, `${good.latenciesMs.length} good requests`);
        const strange = [...outcome.statuses.keys()].filter((status) => !attack.statuses.includes(status));
        assert.deepEqual(strange, [], seen);
        assert.ok(
          attack.expected.some((status) => outcome.statuses.has(status)),
          seen,
        );
        assert.equal(outcome.withoutRetryAfter, 0);
      });
  });
