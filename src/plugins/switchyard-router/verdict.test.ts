import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { readVerdict, RULES, tierOf, VERDICT_SCHEMA, type Boundary } from './verdict.ts';

const VALID = { reason: 'a usual function', rule: 'known_way', boundary: 'supported', p_solve: 0.8 };

suite('a verdict', () => {
  test('is taken as plain JSON, in a fence, and with words around it', () => {
    const expected = { rule: 'known_way', boundary: 'supported', pSolve: 0.8 };
    const text = JSON.stringify(VALID);
    for (const stated of [text, `\`\`\`json\n${text}\n\`\`\``, `Here it is: ${text} That is all.`])
      assert.deepEqual(readVerdict(stated), expected);
  });

  for (const [title, stated] of [
    ['no text', ''],
    ['words', 'The efficient model will do.'],
    ['JSON that breaks off', JSON.stringify(VALID).slice(0, -3)],
    ['another object', '{"tier": "efficient"}'],
    ['a forecast above 1', JSON.stringify({ ...VALID, p_solve: 1.2 })],
    ['a forecast below 0', JSON.stringify({ ...VALID, p_solve: -0.1 })],
    ['a forecast in words', JSON.stringify({ ...VALID, p_solve: '0.8' })],
    ['no forecast', JSON.stringify({ ...VALID, p_solve: null })],
    ['a rule that there is not', JSON.stringify({ ...VALID, rule: 'easy' })],
    ['a rule of every object', JSON.stringify({ ...VALID, rule: 'constructor' })],
    ['a boundary that there is not', JSON.stringify({ ...VALID, boundary: 'sure' })],
    ['a rule with the boundary of another one', JSON.stringify({ ...VALID, boundary: 'unsupported' })],
  ] as const)
    test(`is not read out of ${title}`, () => {
      assert.equal(readVerdict(stated), undefined);
    });

  test('whatever a judge says, reading it never throws, and what is read is consistent', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          reason: fc.string(),
          rule: fc.constantFrom(...Object.keys(RULES), 'x'),
          boundary: fc.constantFrom('supported', 'uncertain', 'unsupported', 'unmatched', 'x'),
          p_solve: fc.double(),
        })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(anything, (stated) => {
        const verdict = readVerdict(stated);
        if (verdict === undefined) return;
        assert.equal(RULES[verdict.rule], verdict.boundary);
        assert.ok(verdict.pSolve >= 0 && verdict.pSolve <= 1);
      }),
      { seed: 20_261_122 },
    );
  });

  test('requires in the schema for judges exactly what is read', () => {
    assert.deepEqual(VERDICT_SCHEMA['required'], Object.keys(VALID));
  });
});

suite('the tier of a verdict', () => {
  for (const [boundary, threshold] of [
    ['supported', 0.5],
    ['uncertain', 0.6],
    ['unmatched', 0.6],
    ['unsupported', 0.7],
  ] as const satisfies readonly (readonly [Boundary, number])[])
    // @spec router-29
    test(`${boundary}: efficient from ${threshold} on`, () => {
      const at = (pSolve: number): string => tierOf({ rule: 'none', boundary, pSolve });
      assert.deepEqual([at(threshold), at(threshold - 0.001)], ['efficient', 'capable']);
    });

  test('none at all is capable', () => {
    assert.equal(tierOf(undefined), 'capable');
  });
});
