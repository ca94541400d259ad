import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';

const shared = shareAllUpstreams({
  models: {
    'acme/sixteen': { endpoints: [{ provider: 'chat', model: 'one-2026', min_completion_tokens: 16 }] },
    'acme/sixteen-claude': {
      endpoints: [{ provider: 'claude', model: 'claude-sonnet-4-6', min_completion_tokens: 16 }],
    },
  },
});

function requested(caller: ChatOrMessages, tokens: number | undefined): JsonObject {
  const member = caller === 'chat' ? 'max_completion_tokens' : 'max_tokens';
  return { ...(tokens !== undefined && { [member]: tokens }), messages: [{ role: 'user', content: 'Hi.' }] };
}

suite('an endpoint with a minimum of 16 tokens', () => {
  for (const caller of CALLERS)
    for (const [name, member] of [
      ['acme/sixteen', 'max_tokens'],
      ['acme/sixteen-claude', 'max_tokens'],
      // What the vendor of the responses format demands goes without the catalog saying so.
      ['responses', 'max_output_tokens'],
    ] as const)
      test(`gets 16 when less was requested, with a warning: ${name}, ${caller} caller`, async () => {
        const { ask } = shared();
        const less = await ask(caller, name, requested(caller, 5));
        assert.equal(less.arrived.body[member], 16);
        const named = caller === 'chat' ? 'max_completion_tokens' : 'max_tokens';
        assert.ok(less.warnings.includes(`field-changed ${named}`), less.warnings.join());
        const more = await ask(caller, name, requested(caller, 17));
        assert.equal(more.arrived.body[member], 17);
        assert.ok(!more.warnings.includes(`field-changed ${named}`));
      });

  test('gets no maximum when none was requested', async () => {
    const { ask } = shared();
    const { arrived } = await ask('chat', 'acme/sixteen', requested('chat', undefined));
    assert.equal(arrived.body['max_tokens'], undefined);
  });

  for (const caller of CALLERS)
    test(`is the only one: elsewhere a maximum of 5 stays 5: ${caller} caller`, async () => {
      const { ask } = shared();
      const { arrived } = await ask(caller, 'chat', requested(caller, 5));
      assert.equal(arrived.body['max_tokens'], 5);
    });
});
