import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, PATHS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { emit } from '../support/upstreams/speak.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { json } from '../support/upstream.ts';

const shared = shareAllUpstreams({
  models: {
    'acme/both': {
      endpoints: [
        { provider: 'responses', model: 'gpt-5.4-pro' },
        { provider: 'claude', model: 'claude-sonnet-4-5' },
      ],
    },
  },
});

const requested = (caller: string): JsonObject => ({
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'What is it?' },
    { role: 'assistant', content: caller === 'chat' ? 'It is ' : 'It is' },
  ],
});
/** Since Sonnet 4.6 and Opus 4.7: @spec chat-7. */
const REFUSAL = 'This model does not support assistant message prefill. The conversation must end with a user message.';

suite('a prefilled response', () => {
  for (const caller of CALLERS) {
    for (const [name, member] of [
      ['claude/claude-sonnet-4-5', 'messages'],
      ['converse', 'messages'],
      ['gemini', 'contents'],
      ['chat', 'messages'],
    ] as const)
      // @spec chat-7
      test(`is continued at ${name}: ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = emit('grey.');
        const { reported, arrived } = await ask(caller, name, requested(caller));
        assert.equal(reported.text, 'grey.');
        const last = objectOf(listOf((arrived.body as JsonObject)[member]).at(-1));
        assert.ok(last['role'] === 'assistant' || last['role'] === 'model');
        const words = JSON.stringify(last);
        // Claude refuses a beginning that ends in white space.
        if (member === 'messages' && name !== 'chat') assert.match(words, /"It is"/);
        else assert.match(words, /"It is ?"/);
      });

    for (const stream of [false, true])
      // @spec chat-7
      test(`is refused by newer models in their own words: ${caller} caller, stream: ${stream}`, async () => {
        const { gateway, upstream } = shared();
        upstream.script = json(400, { type: 'error', error: { type: 'invalid_request_error', message: REFUSAL } });
        const body = { model: 'claude/claude-opus-4-7', ...requested(caller), stream };
        const response = await gateway.post(PATHS[caller], body);
        assert.equal(response.status, 400);
        assert.ok((await response.text()).includes(REFUSAL));
      });

    // @spec chat-7
    test(`is refused for the responses format before anything is sent: ${caller} caller`, async () => {
      const { gateway, upstream } = shared();
      upstream.arrived.length = 0;
      const response = await gateway.post(PATHS[caller], { model: 'acme/responses', ...requested(caller) });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /messages\[1\]/);
      assert.equal(upstream.arrived.length, 0);
    });

    test(`is continued at the next endpoint whose format can express it: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = emit('grey.');
      const { reported, arrived } = await ask(caller, 'acme/both', requested(caller));
      assert.equal(reported.text, 'grey.');
      assert.match(arrived.path, /\/claude\//);
    });
  }
});
