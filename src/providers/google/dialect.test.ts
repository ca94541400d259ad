import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GeminiFacts } from '../../wire/gemini/dialect.ts';
import { geminiDialectOf, vertexDialectOf } from './dialect.ts';

function facts(model: string): GeminiFacts {
  return geminiDialectOf(model).gemini ?? {};
}

/** `budget 128..32768`, `low high`: how thinking is requested from a model. */
function thinkingOf(model: string): string {
  const { thinking } = facts(model);
  if (thinking === undefined) return 'none';
  if (thinking.by === 'level') return `${thinking.levels.join(' ')}${thinking.takesBudget ? ' or budget' : ''}`;
  const { tokensMin, tokensMax, canBeOff, offByDefault } = thinking;
  return `budget ${canBeOff ? '0 or ' : ''}${tokensMin}..${tokensMax}${offByDefault === true ? ', off by default' : ''}`;
}

suite('the thinking settings of a model', () => {
  for (const [model, reported] of [
    ['gemini-2.0-flash', 'none'],
    ['gemini-1.5-pro-002', 'none'],
    ['gemini-2.5-pro', 'budget 128..32768'],
    ['models/gemini-2.5-pro-preview-06-05', 'budget 128..32768'],
    ['gemini-2.5-flash', 'budget 0 or 1..24576'],
    ['gemini-2.5-flash-lite', 'budget 0 or 512..24576, off by default'],
    ['gemini-3-pro-preview', 'low high or budget'],
    ['gemini-3.1-pro-preview-customtools', 'low medium high or budget'],
    ['gemini-3-flash-preview', 'minimal low medium high or budget'],
    ['gemini-3.7-flash', 'low medium high or budget'],
    ['gemini-3.10-flash', 'low medium high or budget'],
    ['gemini-4-argon', 'low medium high'],
    ['google/gemini-4-argon', 'low medium high'],
    ['gemini-flash-latest', 'low medium high'],
    ['gemini-2.5-flash-image', 'none'],
    ['gemini-3-pro-image-preview', 'none'],
    ['gemini-2.5-pro-preview-tts', 'none'],
    ['gemma-4-31b-it', 'none'],
    ['gemini-robotics-er-2-preview', 'none'],
    ['somebody-elses-model', 'none'],
  ] as const) {
    // @spec reasoning-12
    test(`${model}: ${reported}`, () => {
      assert.equal(thinkingOf(model), reported);
    });
  }
});

test('applies what came with each generation to the newer ones', () => {
  const known = ({
    jsonSchema,
    validatedCalls,
    jsonBesideTools,
    callIds,
    signedCalls,
    resultMedia,
  }: GeminiFacts): string =>
    [jsonSchema, validatedCalls, jsonBesideTools, callIds, signedCalls, resultMedia]
      .map((has) => (has === true ? 'x' : '-'))
      .join('');
  assert.equal(known(facts('gemini-2.0-flash')), '------');
  assert.equal(known(facts('gemini-2.5-flash')), 'xx----');
  for (const model of ['gemini-3-flash-preview', 'gemini-4-argon', 'gemini-pro-latest'])
    assert.equal(known(facts(model)), 'xxxxxx');
  assert.equal(known(facts('gemma-4-31b-it')), '------');
});

test('sends open models before the fourth generation nothing but a conversation', () => {
  const plain = { refusesSystem: true, refusesTools: true, refusesJson: true };
  for (const model of ['gemma-3-27b-it', 'models/gemma-3n-e4b-it']) {
    const { refusesSystem, refusesTools, refusesJson } = facts(model);
    assert.deepEqual({ refusesSystem, refusesTools, refusesJson }, plain);
  }
  assert.equal(facts('gemma-4-31b-it').refusesSystem, undefined);
});

test('knows what newer generations refuse', () => {
  const refused = ({ refusesPenalties, refusesLogprobs, fixedSampling }: GeminiFacts): readonly boolean[] =>
    [refusesPenalties, refusesLogprobs, fixedSampling].map((refuses) => refuses === true);
  assert.deepEqual(refused(facts('gemini-2.0-flash')), [false, false, false]);
  assert.deepEqual(refused(facts('gemini-3.5-pro')), [true, true, false]);
  assert.deepEqual(refused(facts('gemini-4-argon')), [true, true, true]);
  assert.deepEqual(refused(facts('gemini-flash-latest')), [true, true, false]);
});

test('differs between the hosts in the place of the tier, in YouTube videos, and in log probabilities', () => {
  const { gemini: own } = geminiDialectOf('gemini-2.5-flash');
  const { gemini: cloud } = vertexDialectOf('gemini-2.5-flash');
  assert.deepEqual([own?.tierIn, own?.youTube, own?.refusesLogprobs], ['body', true, true]);
  assert.deepEqual([cloud?.tierIn, cloud?.youTube, cloud?.refusesLogprobs], ['header', undefined, false]);
  assert.deepEqual(cloud?.thinking, own?.thinking);
  assert.equal(vertexDialectOf('gemini-3.5-pro').gemini?.refusesLogprobs, true);
});
