import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { PathTarget } from '../../format.ts';
import { converseUpstreamFormat } from '../format.ts';
import { CLAUDE, encode, encodeChat, encodeMessages, model } from '../../../../tests/support/wire/converse/request.ts';
import { decodeText as decodeMessagesText } from '../../../../tests/support/wire/messages/request.ts';

const GO: JsonObject = { role: 'user', content: 'go' };

test('escapes the slashes of an ARN in the path', () => {
  const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-v1:0';
  const path = (target: PathTarget): string => converseUpstreamFormat.path(target);
  assert.equal(
    path({ model: arn, stream: false }),
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-5-v1%3A0/converse',
  );
  assert.equal(
    path({ model: 'amazon.nova-lite-v1:0', stream: true }),
    '/model/amazon.nova-lite-v1%3A0/converse-stream',
  );
});

test('sends sampling under the names of the format, and the rest as the model wants it', () => {
  const sampled = { max_tokens: 50, temperature: 0.3, top_p: 0.9, top_k: 40, stop: ['END'] };
  const claude = encodeChat({ messages: [GO], ...sampled }, CLAUDE);
  assert.deepEqual(claude.body['inferenceConfig'], {
    maxTokens: 50,
    temperature: 0.3,
    topP: 0.9,
    stopSequences: ['END'],
  });
  assert.deepEqual(claude.body['additionalModelRequestFields'], { top_k: 40 });
  assert.deepEqual(claude.body['additionalModelResponseFieldPaths'], ['/stop_sequence', '/delta/stop_sequence']);
  assert.deepEqual(claude.warned, []);
  const nova = encodeChat({ messages: [GO], ...sampled }, model({ topK: 'inferenceConfig' }));
  assert.deepEqual(nova.body['additionalModelRequestFields'], { inferenceConfig: { topK: 40 } });
  assert.equal(nova.body['additionalModelResponseFieldPaths'], undefined);
  const other = encodeChat({ messages: [GO], top_k: 40 });
  assert.deepEqual([other.body['additionalModelRequestFields'], other.warned], [undefined, ['field-dropped top_k']]);
});

test('sampling beyond what the model takes is fitted or dropped, with a warning', () => {
  const hot = encodeChat({ messages: [GO], temperature: 1.7, max_tokens: 5000 }, CLAUDE, { maxOutputTokens: 4096 });
  assert.deepEqual(hot.body['inferenceConfig'], { maxTokens: 4096, temperature: 1 });
  assert.deepEqual(hot.warned, ['field-changed max_tokens', 'field-changed temperature']);
  const one = encodeChat({ messages: [GO], temperature: 0.5, top_p: 0.5 }, model({ oneSampler: true }));
  assert.deepEqual([one.body['inferenceConfig'], one.warned], [{ temperature: 0.5 }, ['field-dropped top_p']]);
  const stopless = encodeChat({ messages: [GO], stop: 'END' }, model({ refusesStop: true }));
  assert.deepEqual([stopless.body['inferenceConfig'], stopless.warned], [undefined, ['field-dropped stop']]);
  const blank = encodeMessages({ messages: [GO], stop_sequences: ['\n', 'END'] });
  assert.deepEqual(blank.body['inferenceConfig'], { maxTokens: 100, stopSequences: ['END'] });
  assert.deepEqual(blank.warned, ['field-dropped stop_sequences']);
});

test('sends a maximum only if the caller sets one', () => {
  assert.equal(encodeChat({ messages: [GO] }, CLAUDE, { maxOutputTokens: 4096 }).body['inferenceConfig'], undefined);
});

test('sends the service tier under the names of the format', () => {
  const tiers: readonly (readonly [string, Json])[] = [
    ['auto', null],
    ['default', { type: 'default' }],
    ['flex', { type: 'flex' }],
    ['priority', { type: 'priority' }],
  ];
  for (const [service_tier, expected] of tiers)
    assert.deepEqual(encodeChat({ messages: [GO], service_tier }).body['serviceTier'] ?? null, expected);
  const own = encodeMessages({ messages: [GO], service_tier: 'standard_only' });
  assert.deepEqual([own.body['serviceTier'], own.warned], [{ type: 'default' }, []]);
  const scale = encodeChat({ messages: [GO], service_tier: 'scale' });
  assert.deepEqual([scale.body['serviceTier'], scale.warned], [undefined, ['field-dropped service_tier']]);
});

test('drops settings that the format cannot express, with a warning under the path of the caller', () => {
  const { body, warned } = encodeChat({
    messages: [GO],
    seed: 1,
    min_p: 0.1,
    top_a: 0.1,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    repetition_penalty: 1.1,
    logit_bias: { '1': 1 },
    logprobs: true,
    top_logprobs: 2,
    prediction: { type: 'content', content: 'x' },
    verbosity: 'low',
    modalities: ['text', 'image'],
  });
  assert.deepEqual(body, { messages: [{ role: 'user', content: [{ text: 'go' }] }] });
  assert.deepEqual(
    warned.toSorted(),
    [
      'frequency_penalty',
      'logit_bias',
      'logprobs',
      'min_p',
      'modalities',
      'prediction',
      'presence_penalty',
      'repetition_penalty',
      'seed',
      'top_a',
      'top_logprobs',
      'verbosity',
    ].map((name) => `field-dropped ${name}`),
  );
});

test('sends a beta feature to models that have it, in the body', () => {
  const text = JSON.stringify({ model: 'm', max_tokens: 10, messages: [GO] });
  const request = decodeMessagesText(text);
  const betas = ['interleaved-thinking-2025-05-14', 'files-api-2025-04-14'];
  const requested = { ...request, directives: { ...request.directives, betas } };
  const { body, headers, warned } = encode(requested, CLAUDE);
  assert.deepEqual(body['additionalModelRequestFields'], { anthropic_beta: ['interleaved-thinking-2025-05-14'] });
  assert.deepEqual(headers, {});
  assert.deepEqual(warned, ['field-dropped anthropic-beta']);
});

test('members that stay the same come first, and nothing of the routing is sent', () => {
  const { body } = encodeChat(
    {
      messages: [{ role: 'system', content: 'be brief' }, GO],
      tools: [{ type: 'function', function: { name: 'f' } }],
      temperature: 0,
      top_k: 1,
      stop: 'x',
      service_tier: 'flex',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
      provider: { order: ['bedrock'] },
      user: 'u',
      session_id: 's',
      metadata: { a: 'b' },
    },
    CLAUDE,
  );
  assert.deepEqual(Object.keys(body), [
    'inferenceConfig',
    'additionalModelRequestFields',
    'additionalModelResponseFieldPaths',
    'outputConfig',
    'serviceTier',
    'toolConfig',
    'system',
    'messages',
  ]);
});

const SIGNED: JsonObject = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
const BLOB = 'EpAHCoYBGAEiQNHqyJr';

test('reasoning of a Claude goes back as it came, that of any other is left out with a warning', () => {
  const content = [
    SIGNED,
    { type: 'redacted_thinking', data: BLOB },
    { type: 'thinking', thinking: 'unsigned', signature: '' },
    { type: 'text', text: 'so' },
  ];
  const messages = [GO, { role: 'assistant', content }, GO];
  const { body, warned } = encodeMessages({ messages });
  assert.deepEqual((body['messages'] as readonly JsonObject[])[1]?.['content'], [
    { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
    { reasoningContent: { redactedContent: Buffer.from(BLOB).toString('base64') } },
    { text: 'so' },
  ]);
  assert.deepEqual(warned, ['content-dropped messages[1].content[2]']);
  const other = encodeMessages({ messages }, model({}));
  assert.deepEqual((other.body['messages'] as readonly JsonObject[])[1]?.['content'], [{ text: 'so' }]);
  assert.equal(other.warned.length, 3);
});

test('reasoning that a chat caller sends back keeps its signature, too', () => {
  const details: Json = [
    { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
    { type: 'reasoning.encrypted', data: BLOB, format: 'anthropic-claude-v1', index: 1 },
    { type: 'reasoning.encrypted', data: 'gAAAA', format: 'openai-responses-v1', index: 2 },
  ];
  const { body, warned } = encodeChat(
    { messages: [GO, { role: 'assistant', content: 'so', reasoning_details: details }, GO] },
    CLAUDE,
  );
  assert.deepEqual((body['messages'] as readonly JsonObject[])[1]?.['content'], [
    { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
    { reasoningContent: { redactedContent: Buffer.from(BLOB).toString('base64') } },
    { text: 'so' },
  ]);
  assert.deepEqual(warned, ['content-dropped messages[1].reasoning_details[2]']);
});
