import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactIdentities } from './redact-identities.ts';

// As users quote the vendors' errors in public issues, with other numbers.
const STATED: readonly (readonly [said: string, reported: string])[] = [
  [
    'User: arn:aws:sts::123456789012:assumed-role/gateway/i-0abc is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x because no policy allows it',
    'User: [redacted] is not authorized to perform: bedrock:InvokeModel on resource: [redacted] because no policy allows it',
  ],
  [
    'Your account 123456789012 is not authorized to invoke this API operation.',
    'Your account [redacted] is not authorized to invoke this API operation.',
  ],
  [
    'Publisher Model `projects/acme-prod-4711/locations/us-central1/publishers/google/models/gemini-x` was not found.',
    'Publisher Model `projects/[redacted]/locations/us-central1/publishers/google/models/gemini-x` was not found.',
  ],
  [
    'Vertex AI API has not been used in project 123456789012 before or it is disabled.',
    'Vertex AI API has not been used in project [redacted] before or it is disabled.',
  ],
  [
    'Permission denied for gateway@acme-prod.iam.gserviceaccount.com (or it may not exist).',
    'Permission denied for [redacted] (or it may not exist).',
  ],
  [
    'Rate limit reached for gpt-4o in organization org-AbCdEfGhIjKlMnOpQrStUvWx on tokens per min (TPM): Limit 30000.',
    'Rate limit reached for gpt-4o in organization [redacted] on tokens per min (TPM): Limit 30000.',
  ],
  [
    'Project `proj_AbCdEfGhIjKlMnOpQrStUvWx` does not have access to model `gpt-5`',
    'Project `[redacted]` does not have access to model `gpt-5`',
  ],
  [
    'This request would exceed the rate limit of organization (0a1b2c3d-0000-4000-8000-00000000000f).',
    'This request would exceed the rate limit of organization ([redacted]).',
  ],
  [
    '/subscriptions/0a1b2c3d-0000-4000-8000-00000000000f/resourceGroups/acme-ai/providers/X at acme-ai.openai.azure.com',
    '/subscriptions/[redacted]/providers/X at [redacted].openai.azure.com',
  ],
];

for (const [stated, reported] of STATED)
  // @spec error-17
  test(`removes the operator's account from: ${reported.slice(0, 60)}`, () =>
    assert.equal(redactIdentities(stated), reported));

// @spec error-17
test("keeps the rest of an error's message", () => {
  for (const words of [
    'messages.1.content.0: tool_use ids must be unique: toolu_01AbCdEfGhIjKlMnOpQrStUv',
    'maximum context length is 131072 tokens, your project description has 200000',
    'Invalid value for user-agent; see https://platform.example.com/account/limits',
    'The project must be a string, the account number too.',
    'No tool output found for call_AbCdEfGhIjKlMnOpQrStUvWx',
  ])
    assert.equal(redactIdentities(words), words);
});

test('takes time in proportion to the length of a text', () => {
  const before = process.cpuUsage().user;
  redactIdentities('a-'.repeat(1_000) + 'project '.repeat(200) + 'arn:aws:'.repeat(100));
  assert.ok(process.cpuUsage().user - before < 200_000, 'microseconds');
});
