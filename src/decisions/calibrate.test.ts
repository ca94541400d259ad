import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createRandom } from '../../tests/support/random.ts';
import { calibrated, fitTemperature, withTemperature, type LabelledRow } from './calibrate.ts';
import { toMillionths } from './probabilities.ts';

/** Rows of a model that is too sure: it gives the square of what is true, normalized. */
function tooSure(count: number, seed: number): readonly LabelledRow[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const truth = toMillionths(Array.from({ length: 3 }, () => 0.05 + random.next()));
    const said = toMillionths(withTemperature(truth, 0.5));
    const at = random.next() * 1_000_000;
    const [first = 0, second = 0] = truth;
    return { millionths: said, answer: at < first ? 0 : at < first + second ? 1 : 2 };
  });
}

suite('calibration', () => {
  // @spec decision-14
  test('finds by how much a model is too sure, and is better on rows that it has not seen', () => {
    const fit = fitTemperature(tooSure(2_000, 7));
    assert.ok(Math.abs(fit.temperature - 2) < 0.3, String(fit.temperature));
    assert.ok(fit.helps && fit.heldOut.ece < fit.before.ece / 2, JSON.stringify(fit));
  });

  // @spec decision-14
  test('refuses a fit of a model that is right as it is', () => {
    const rows = tooSure(400, 3).map(({ millionths, answer }) => ({
      millionths: toMillionths(withTemperature(millionths, 2)),
      answer,
    }));
    const { temperature, helps, before, heldOut } = fitTemperature(rows);
    assert.ok(Math.abs(temperature - 1) < 0.3, String(temperature));
    if (helps) assert.ok(heldOut.ece < before.ece);
    else assert.ok(heldOut.ece >= before.ece || heldOut.loss > before.loss);
  });

  // @spec decision-14
  test('flattens above 1, sharpens below, and never changes the order of options', () => {
    const weights = fc.array(fc.double({ min: 0.001, max: 1, noNaN: true }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(weights, fc.double({ min: 0.05, max: 20, noNaN: true }), (given, temperature) => {
        const before = toMillionths(given);
        const after = withTemperature(before, temperature);
        const [most, mostAfter] = [Math.max(...before) / 1_000_000, Math.max(...after)];
        if (temperature > 1) assert.ok(mostAfter <= most + 1e-9);
        else assert.ok(mostAfter >= most - 1e-9);
        for (const [left, one] of before.entries())
          for (const [right, other] of before.entries())
            if (one > other) assert.ok((after[left] ?? 0) >= (after[right] ?? 0));
      }),
      { numRuns: 2_000 },
    );
  });

  test('leaves types as they are that were not fitted', () => {
    const question = {
      id: 'q',
      type: 'noul',
      instructions: 'i',
      options: [{ key: 'true' }, { key: 'false' }],
    } as const;
    const verdict = { question, millionths: [900_000, 100_000], confidence: 0.8, spread: 0, orders: 2 };
    assert.equal(calibrated(verdict, { temperatures: { choice: 2 } }), verdict);
    assert.deepEqual(calibrated(verdict, { temperatures: { noul: 2 } }).millionths, [750_000, 250_000]);
  });
});
