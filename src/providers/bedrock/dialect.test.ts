import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConverseFacts } from '../../wire/converse/dialect.ts';
import { dialectOf } from './dialect.ts';

function factsOf(model: string): ConverseFacts {
  return dialectOf(model).converse ?? {};
}

test('recognizes a model in every region, and behind an ARN that names it', () => {
  const name = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
  const expected = dialectOf(name);
  assert.equal(expected.converse?.claude, true);
  for (const region of ['us', 'eu', 'apac', 'au', 'jp', 'ca', 'us-gov', 'global'])
    assert.deepEqual(dialectOf(`${region}.${name}`), expected, region);
  const account = 'arn:aws:bedrock:us-east-1:123456789012';
  assert.deepEqual(dialectOf(`arn:aws:bedrock:us-east-1::foundation-model/${name}`), expected);
  assert.deepEqual(dialectOf(`${account}:inference-profile/us.${name}`), expected);
  assert.deepEqual(dialectOf(`arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/${name}`), expected);
});

test('knows no facts for an unknown name', () => {
  for (const name of [
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12cd34ef56',
    'arn:aws:bedrock:us-east-1:123456789012:provisioned-model/ab12cd34ef56',
    'acme.model-1',
    'claude',
    '',
    '.',
    'constructor.x',
  ])
    assert.deepEqual(dialectOf(name), {}, name);
});

test('knows how each Claude thinks', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['claude-v2:1', 'none', []],
    ['claude-3-haiku-20240307-v1:0', 'none', []],
    ['claude-3-5-sonnet-20241022-v2:0', 'none', []],
    ['claude-3-7-sonnet-20250219-v1:0', 'budget', []],
    ['claude-sonnet-4-20250514-v1:0', 'budget', []],
    ['claude-opus-4-1-20250805-v1:0', 'budget', []],
    ['claude-haiku-4-5-20251001-v1:0', 'budget', []],
    ['claude-opus-4-6-v1', 'adaptive', ['max']],
    ['claude-sonnet-4-6', 'adaptive', ['max']],
    ['claude-opus-4-7', 'adaptive-only', ['xhigh', 'max']],
    ['claude-sonnet-5', 'adaptive-only', ['xhigh', 'max']],
    ['claude-mythos-preview', 'adaptive-only', ['xhigh', 'max']],
  ];
  for (const [model, thinking, efforts] of cases) {
    const dialect = dialectOf(`anthropic.${model}`);
    assert.deepEqual([dialect.thinking, dialect.efforts], [thinking, efforts], model);
    assert.equal(dialect.continuesResponses ?? false, !thinking.startsWith('adaptive'), model);
  }
});

test('knows what each Claude takes', () => {
  const structured = (model: string): boolean => dialectOf(`us.anthropic.${model}`).structuredOutput === true;
  assert.equal(structured('claude-haiku-4-5-20251001-v1:0'), true);
  assert.equal(structured('claude-opus-4-6-v1'), true);
  assert.equal(structured('claude-opus-4-1-20250805-v1:0'), false);
  assert.equal(structured('claude-opus-4-7'), false);
  const facts = (model: string): ConverseFacts => factsOf(`anthropic.${model}`);
  assert.equal(facts('claude-3-haiku-20240307-v1:0').cachePoints, undefined);
  assert.equal(facts('claude-3-5-haiku-20241022-v1:0').cachePoints, 'everywhere');
  assert.equal(facts('claude-3-7-sonnet-20250219-v1:0').cacheTtl, undefined);
  assert.equal(facts('claude-sonnet-4-5-20250929-v1:0').cacheTtl, true);
  assert.equal(facts('claude-sonnet-4-20250514-v1:0').oneSampler, undefined);
  assert.equal(facts('claude-opus-4-1-20250805-v1:0').oneSampler, true);
  assert.deepEqual(facts('claude-3-5-haiku-20241022-v1:0').media, ['document']);
  assert.equal(facts('claude-v2:1').refusesTools, true);
  assert.deepEqual(facts('claude-sonnet-4-20250514-v1:0').betas, ['interleaved-thinking', 'context-1m']);
  assert.deepEqual(facts('claude-opus-4-6-v1').betas, ['interleaved-thinking']);
  assert.equal(facts('claude-mythos-preview').alwaysThinks, true);
});

test('knows what the vendor’s own models take', () => {
  const micro = factsOf('us.amazon.nova-micro-v1:0');
  assert.deepEqual([micro.media, micro.reasoning, micro.topK], [[], undefined, 'inferenceConfig']);
  const second = factsOf('us.amazon.nova-2-lite-v1:0');
  assert.deepEqual(
    [second.media, second.reasoning, second.cachePoints],
    [['image', 'document', 'video'], 'reasoningConfig', 'apart-from-tools'],
  );
  const titan = factsOf('amazon.titan-text-express-v1');
  assert.deepEqual([titan.refusesSystem, titan.refusesTools], [true, true]);
});

test('knows what models of others take', () => {
  assert.deepEqual(factsOf('us.meta.llama3-3-70b-instruct-v1:0').forces, []);
  assert.equal(factsOf('us.meta.llama3-3-70b-instruct-v1:0').refusesTools, false);
  assert.equal(factsOf('us.meta.llama3-2-1b-instruct-v1:0').refusesTools, true);
  assert.deepEqual(factsOf('us.meta.llama4-scout-17b-instruct-v1:0').media, ['image', 'document']);
  assert.equal(factsOf('mistral.mistral-7b-instruct-v0:2').refusesSystem, true);
  assert.deepEqual(factsOf('mistral.mistral-large-2407-v1:0').forces, ['any']);
  assert.equal(factsOf('mistral.mistral-large-2407-v1:0').shortToolIds, true);
  assert.equal(dialectOf('mistral.magistral-small-2509').structuredOutput, true);
  assert.equal(factsOf('cohere.command-text-v14').refusesTools, true);
  assert.deepEqual(factsOf('cohere.command-r-plus-v1:0').forces, []);
  assert.equal(factsOf('us.deepseek.r1-v1:0').alwaysThinks, true);
  const open = dialectOf('openai.gpt-oss-120b-1:0');
  assert.deepEqual(
    [open.structuredOutput, open.converse?.reasoning, open.converse?.refusesStop],
    [true, 'reasoning_effort', true],
  );
  assert.deepEqual(factsOf('qwen.qwen3-vl-235b-a22b').media, ['image']);
  assert.equal(dialectOf('qwen.qwen3-32b-v1:0').structuredOutput, true);
  assert.equal(factsOf('moonshot.kimi-k2-thinking').leadingAssistant, true);
});

test('expects signed reasoning of a Claude only', () => {
  for (const model of ['us.amazon.nova-2-lite-v1:0', 'openai.gpt-oss-20b-1:0', 'us.deepseek.r1-v1:0'])
    assert.notEqual(factsOf(model).claude, true, model);
});
