import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import {
  encodeChat,
  encodeOfMessages,
  SECOND,
  targetOf,
  type Encoded,
} from '../../../../tests/support/wire/gemini/request.ts';

const PRO = targetOf({ thinking: { by: 'budget', tokensMin: 128, tokensMax: 32_768, canBeOff: false } });
const FLASH = targetOf({ thinking: { by: 'budget', tokensMin: 1, tokensMax: 24_576, canBeOff: true } });
const LEVELS = targetOf({ thinking: { by: 'level', levels: ['low', 'medium', 'high'], takesBudget: false } });
const TWO_LEVELS = targetOf({ thinking: { by: 'level', levels: ['low', 'high'], takesBudget: true } });

/** `thinkingConfig` and `maxOutputTokens`. */
function planOf({ config }: Encoded): readonly (Json | undefined)[] {
  return [config['thinkingConfig'], config['maxOutputTokens']];
}

test('sends no thinking settings where the request has none', () => {
  for (const target of [PRO, FLASH, LEVELS, SECOND])
    assert.deepEqual(planOf(encodeChat({}, target)), [undefined, undefined]);
});

suite('a model with a budget', () => {
  for (const [reasoning, target, config] of [
    [{ max_tokens: 5_000 }, FLASH, { thinkingBudget: 5_000, includeThoughts: true }],
    [{ max_tokens: 5_000, exclude: true }, FLASH, { thinkingBudget: 5_000 }],
    [{ enabled: true }, FLASH, { thinkingBudget: -1, includeThoughts: true }],
    [{ enabled: false }, FLASH, { thinkingBudget: 0 }],
    [{ effort: 'none' }, FLASH, { thinkingBudget: 0 }],
    // 0.8, 0.5 and 0.2 of a response of 65536 tokens, within what the model takes.
    [{ effort: 'high' }, PRO, { thinkingBudget: 32_768, includeThoughts: true }],
    [{ effort: 'medium' }, PRO, { thinkingBudget: 32_768, includeThoughts: true }],
    [{ effort: 'low' }, PRO, { thinkingBudget: 13_107, includeThoughts: true }],
    [{ effort: 'low', max_tokens: 700 }, PRO, { thinkingBudget: 700, includeThoughts: true }],
  ] as const) {
    test(`${JSON.stringify(reasoning)} is ${JSON.stringify(config)}`, () => {
      const encoded = encodeChat({ reasoning }, target);
      assert.deepEqual(planOf(encoded), [config, undefined]);
      assert.deepEqual(encoded.warnings, []);
    });
  }

  test('gets the nearest budget for one out of range', () => {
    const most = encodeChat({ reasoning: { max_tokens: 99_000 } }, FLASH);
    assert.deepEqual(planOf(most)[0], { thinkingBudget: 24_576, includeThoughts: true });
    assert.deepEqual(most.warnings, ['field-changed reasoning.max_tokens']);
    const least = encodeChat({ reasoning: { max_tokens: 5 } }, PRO);
    assert.deepEqual(planOf(least)[0], { thinkingBudget: 128, includeThoughts: true });
  });

  test('does little where thinking cannot be off, and the record says so', () => {
    const encoded = encodeChat({ reasoning: { effort: 'none' } }, PRO);
    assert.deepEqual(planOf(encoded), [{ thinkingBudget: 128 }, undefined]);
    assert.deepEqual(encoded.warnings, ['field-changed reasoning']);
  });

  test('takes an effort as a share of the requested limit', () => {
    const { config, warnings } = encodeChat({ reasoning: { effort: 'medium' }, max_tokens: 10_000 }, FLASH);
    assert.deepEqual(
      [config['thinkingConfig'], config['maxOutputTokens']],
      [{ thinkingBudget: 5_000, includeThoughts: true }, 10_000],
    );
    assert.deepEqual(warnings, []);
  });

  test('raises the limit for a budget that leaves no room, as far as the endpoint allows', () => {
    const raised = encodeChat({ reasoning: { max_tokens: 2_000 }, max_tokens: 1_500 }, FLASH);
    assert.deepEqual(planOf(raised), [{ thinkingBudget: 2_000, includeThoughts: true }, 3_024]);
    assert.deepEqual(raised.warnings, ['field-changed max_tokens']);
    const limited = targetOf({ ...FLASH.dialect.gemini }, { maxOutputTokens: 2_048 });
    const lowered = encodeChat({ reasoning: { max_tokens: 2_000 }, max_tokens: 1_500 }, limited);
    assert.deepEqual(planOf(lowered), [{ thinkingBudget: 1_024, includeThoughts: true }, 2_048]);
  });

  test('does not think where nothing is left of its budget', () => {
    const tiny = targetOf({ ...FLASH.dialect.gemini }, { maxOutputTokens: 500 });
    const encoded = encodeChat({ reasoning: { max_tokens: 2_000 }, max_tokens: 300 }, tiny);
    assert.deepEqual(encoded.config['thinkingConfig'], { thinkingBudget: 0 });
    assert.deepEqual(encoded.warnings, ['field-changed reasoning']);
  });
});

suite('a model with levels', () => {
  for (const [reasoning, target, config] of [
    [{ effort: 'high' }, LEVELS, { thinkingLevel: 'high', includeThoughts: true }],
    [{ effort: 'xhigh' }, LEVELS, { thinkingLevel: 'high', includeThoughts: true }],
    [{ effort: 'minimal' }, LEVELS, { thinkingLevel: 'low', includeThoughts: true }],
    [{ effort: 'medium' }, TWO_LEVELS, { thinkingLevel: 'low', includeThoughts: true }],
    [{ enabled: true }, LEVELS, { thinkingLevel: 'medium', includeThoughts: true }],
    [{ max_tokens: 900 }, TWO_LEVELS, { thinkingBudget: 900, includeThoughts: true }],
    [{ effort: 'low', max_tokens: 900 }, TWO_LEVELS, { thinkingLevel: 'low', includeThoughts: true }],
  ] as const) {
    test(`${JSON.stringify(reasoning)} is ${JSON.stringify(config)}`, () => {
      const encoded = encodeChat({ reasoning }, target);
      assert.deepEqual(planOf(encoded), [config, undefined]);
      assert.deepEqual(encoded.warnings, []);
    });
  }

  test('gets the level nearest to a budget that it does not take', () => {
    const encoded = encodeChat({ reasoning: { max_tokens: 5_100 }, max_tokens: 10_000 }, LEVELS);
    assert.deepEqual(planOf(encoded), [{ thinkingLevel: 'medium', includeThoughts: true }, 10_000]);
    assert.deepEqual(encoded.warnings, ['field-changed reasoning.max_tokens']);
  });

  test('cannot be off', () => {
    const encoded = encodeChat({ reasoning: { enabled: false } }, LEVELS);
    assert.deepEqual(planOf(encoded)[0], { thinkingLevel: 'low' });
    assert.deepEqual(encoded.warnings, ['field-changed reasoning']);
  });
});

suite('a model without a setting for thinking', () => {
  test('is not, and the record says so', () => {
    const encoded = encodeChat({ reasoning: { effort: 'high' } }, SECOND);
    assert.deepEqual(planOf(encoded), [undefined, undefined]);
    assert.deepEqual(encoded.warnings, ['field-dropped reasoning']);
  });

  test('is off without a setting', () => {
    assert.deepEqual(encodeChat({ reasoning: { effort: 'none' } }, SECOND).warnings, []);
  });
});

test('shows thoughts on request for a model that thinks by default, and none for one that does not', () => {
  assert.deepEqual(planOf(encodeChat({ include_reasoning: true }, FLASH))[0], { includeThoughts: true });
  assert.deepEqual(planOf(encodeChat({ include_reasoning: true }, LEVELS))[0], { includeThoughts: true });
  const lite = { by: 'budget', tokensMin: 512, tokensMax: 24_576, canBeOff: true, offByDefault: true } as const;
  assert.deepEqual(planOf(encodeChat({ include_reasoning: true }, targetOf({ thinking: lite })))[0], undefined);
  assert.deepEqual(planOf(encodeChat({ reasoning: { enabled: true } }, targetOf({ thinking: lite })))[0], {
    thinkingBudget: -1,
    includeThoughts: true,
  });
});

test('sends no thinking settings to an endpoint that lists no reasoning', () => {
  const listed = { ...FLASH, supportedParameters: new Set(['temperature']) };
  const encoded = encodeChat({ reasoning: { effort: 'high' } }, listed);
  assert.deepEqual(planOf(encoded), [undefined, undefined]);
  assert.deepEqual(encoded.warnings, ['field-dropped reasoning']);
});

suite('a messages caller', () => {
  const plan = (body: JsonObject, target = FLASH): readonly (Json | undefined)[] =>
    planOf(encodeOfMessages(body, target));

  test('gets its own settings translated', () => {
    assert.deepEqual(plan({ thinking: { type: 'enabled', budget_tokens: 2_000 } }), [
      { thinkingBudget: 2_000, includeThoughts: true },
      4_000,
    ]);
    assert.deepEqual(plan({ thinking: { type: 'adaptive' } }), [{ thinkingBudget: -1, includeThoughts: true }, 4_000]);
    assert.deepEqual(plan({ thinking: { type: 'disabled' } }), [{ thinkingBudget: 0 }, 4_000]);
    assert.deepEqual(plan({ thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' } }), [
      { thinkingBudget: 2_000 },
      4_000,
    ]);
  });

  test('is shown no thoughts when it requests an effort alone', () => {
    assert.deepEqual(plan({ output_config: { effort: 'low' } }, LEVELS), [{ thinkingLevel: 'low' }, 4_000]);
  });

  test('gets warnings under its own paths', () => {
    const encoded = encodeOfMessages({ thinking: { type: 'enabled', budget_tokens: 3_000 } }, LEVELS);
    assert.deepEqual(encoded.warnings, ['field-changed thinking.budget_tokens']);
  });
});
