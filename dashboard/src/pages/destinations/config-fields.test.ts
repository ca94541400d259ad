import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, fieldsOf, hideSecrets, isOtherOrigin, maskOf, toConfig } from './config-fields.ts';

const FIELDS = fieldsOf(
  {
    required: ['apiKey', 'otlpEndpoint'],
    properties: {
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      otlpEndpoint: { type: 'string', default: 'https://a.example' },
      apiKey: { type: 'string', description: 'A token with `traces:write`.' },
      spans: { type: 'string', enum: ['generation', 'tree'] },
      compression: { type: 'boolean' },
    },
  },
  ['apiKey', 'headers'],
);
const STORED = { apiKey: 'ab…yz', otlpEndpoint: 'https://a.example/v1', headers: { 'X-One': '…' }, compression: false };

test('makes a field of each member of a schema, required ones first', () => {
  assert.deepEqual(
    FIELDS.map(({ name, label, kind }) => [name, label, kind]),
    [
      ['otlpEndpoint', 'OTLP endpoint', 'text'],
      ['apiKey', 'API key', 'secret'],
      ['headers', 'Headers', 'lines'],
      ['spans', 'Spans', 'choice'],
      ['compression', 'Compression', 'switch'],
    ],
  );
});

test('sends what is filled in, each in its type', () => {
  const draft = { apiKey: ' key ', headers: 'X-One: a: b\nnone\nX-Two:2', compression: 'false', spans: '' };
  assert.deepEqual(toConfig(FIELDS, draft), {
    apiKey: 'key',
    headers: { 'X-One': 'a: b', 'X-Two': '2' },
    compression: false,
  });
});

test('keeps stored secrets out of the draft, and shows their masks', () => {
  assert.deepEqual(draftOf(FIELDS, STORED), { otlpEndpoint: 'https://a.example/v1', compression: 'false' });
  const masks = FIELDS.map((field) => maskOf(field, STORED));
  assert.deepEqual(masks, [undefined, 'ab…yz', 'X-One: …', undefined, undefined]);
});

test('reports another origin, and no other path', () => {
  const stored = draftOf(FIELDS, STORED);
  assert.equal(isOtherOrigin(FIELDS, stored, STORED), false);
  assert.equal(isOtherOrigin(FIELDS, { ...stored, otlpEndpoint: 'https://a.example/v2' }, STORED), false);
  assert.equal(isOtherOrigin(FIELDS, { ...stored, otlpEndpoint: 'https://b.example/v1' }, STORED), true);
});

test('hides secrets in the request that is shown', () => {
  assert.deepEqual(hideSecrets(FIELDS, { apiKey: 'key', headers: { 'X-One': 'a' }, spans: 'tree' }), {
    apiKey: '…',
    headers: { 'X-One': '…' },
    spans: 'tree',
  });
});
