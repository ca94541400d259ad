import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EFFORTS } from '../../src/canonical/request.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { limitAsSent } from '../../src/pipeline/attempt/request/limit-as-sent.ts';
import { leastMaximum } from '../../src/pipeline/billing/route-estimate.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import {
  CLIENT_FORMATS,
  endpointOf,
  prepareRequest,
  providerOf,
  type RequestTarget,
} from '../support/prepare-request.ts';

const TARGETS: readonly RequestTarget[] = [
  { adapter: 'anthropic', model: 'claude-3-7-sonnet-20250219', format: 'messages' },
  { adapter: 'anthropic', model: 'claude-opus-4-6', format: 'messages' },
  { adapter: 'google', model: 'gemini-2.5-flash', format: 'gemini' },
  { adapter: 'google', model: 'gemini-3-pro-preview', format: 'gemini' },
  { adapter: 'cohere', model: 'command-a-reasoning-08-2025', format: 'cohere' },
  { adapter: 'bedrock', model: 'anthropic.claude-3-7-sonnet-20250219-v1:0', format: 'converse' },
  { adapter: 'bedrock', model: 'amazon.nova-2-lite-v1:0', format: 'converse' },
  { adapter: 'openai', model: 'gpt-5', format: 'responses' },
  { adapter: 'openai-compatible', model: 'one', format: 'chat' },
];

/** Where the formats say it. */
function sentLimit({ body }: JsonObject): unknown {
  const { max_tokens, max_completion_tokens, max_output_tokens, generationConfig, inferenceConfig } =
    body as JsonObject;
  const google = generationConfig as JsonObject | undefined;
  const bedrock = inferenceConfig as JsonObject | undefined;
  return (
    max_tokens ?? max_completion_tokens ?? max_output_tokens ?? google?.['maxOutputTokens'] ?? bedrock?.['maxTokens']
  );
}

for (const target of TARGETS)
  test(`sends no ${target.model} in ${target.format} a longer maximum than reserved`, () => {
    const tokens = fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 200_000 }));
    const reasoning = fc.oneof(
      fc.record({ max_tokens: tokens }),
      fc.record({ effort: fc.constantFrom(...EFFORTS) }),
      fc.record({ enabled: fc.boolean() }),
    );
    let compared = 0;
    fc.assert(
      fc.property(tokens, reasoning, (max_tokens, thought) => {
        const body = {
          model: 'acme/one',
          messages: [{ role: 'user', content: 'hi' }],
          max_tokens,
          reasoning: thought,
        };
        const sent = sentLimit(prepareRequest('chat', body, target));
        const request = CLIENT_FORMATS.chat.decodeRequest(body, JSON.stringify(body), {
          serviceMetadata: false,
          betas: [],
        });
        const parts = { formats: UPSTREAM_FORMATS, providers: new Map([['upstream', providerOf(target)]]) };
        const reserved = limitAsSent(parts, request, { endpoint: endpointOf(target), format: target.format });
        if (typeof sent !== 'number') return assert.equal(reserved, undefined);
        compared++;
        assert.ok(reserved === undefined || sent <= reserved, `${sent} sent, ${reserved} held`);
      }),
    );
    assert.ok(compared > 0);
  });

for (const target of TARGETS)
  test(`sends no ${target.model} in ${target.format} more than a maximum of the gateway`, () => {
    const reasoning = fc.oneof(
      fc.constant(undefined),
      fc.record({ max_tokens: fc.integer({ min: 1, max: 60_000 }) }),
      fc.record({ effort: fc.constantFrom(...EFFORTS) }),
      fc.record({ enabled: fc.boolean() }),
    );
    let compared = 0;
    fc.assert(
      fc.property(fc.nat({ max: 3_000 }), reasoning, (more, thought) => {
        const body = { model: 'acme/one', messages: [{ role: 'user', content: 'hi' }], reasoning: thought };
        const headers = { serviceMetadata: false, betas: [] };
        const least = leastMaximum(CLIENT_FORMATS.chat.decodeRequest(body, JSON.stringify(body), headers));
        assert.ok(least >= 1_024);
        const sent = sentLimit(prepareRequest('chat', { ...body, max_tokens: least + more }, target));
        if (typeof sent !== 'number') return;
        compared++;
        assert.ok(sent <= least + more, `${sent} sent of ${least + more}`);
      }),
    );
    assert.ok(compared > 0);
  });
