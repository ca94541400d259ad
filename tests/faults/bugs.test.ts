import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBodyBudget } from '../../src/http/body-budget.ts';
import { samplePrincipal } from '../support/principal.ts';
import { createGenerationRoute } from '../../src/http/generation/route.ts';
import { createUnreadResponses } from '../../src/http/unread-responses.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLoopTurns } from '../../src/lib/async/loop-turns.ts';
import { pluginSchema } from '../../src/plugins/index.ts';
import { createChatClientFormat } from '../../src/wire/chat/format.ts';
import { createMessagesClientFormat } from '../../src/wire/messages/format.ts';

const principal = samplePrincipal();

// @spec error-4
test('hides a bug behind a 500 and reports it to the operator, on both routes', async (t) => {
  const bugs: unknown[] = [];
  const unread = createUnreadResponses({ bytesMax: 1_000_000 });
  const parts = {
    authenticate: () => principal,
    generate: () => Promise.reject(new Error('the secret of the house')),
    presets: { use: () => assert.fail('no request names a preset') },
    clock: systemClock,
    bodyLimits: { bytesMax: 1_000, idleMs: 1_000, totalMs: 1_000 },
    bodies: createBodyBudget(1_000_000),
    unread,
    turns: createLoopTurns({ clock: systemClock }),
    allowApiKeyHeader: true,
    baseUrl: () => 'http://x/v1',
    rename: (name: string) => name,
    draining: () => false,
    onRefused: () => undefined,
    onBug: (error: unknown) => void bugs.push(error),
  };
  const chat = createChatClientFormat({ plugin: pluginSchema });
  const messages = createMessagesClientFormat({ plugin: pluginSchema });
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    generation: {
      '/chat/completions': createGenerationRoute(chat, parts),
      '/messages': createGenerationRoute(messages, parts),
      '/broken': () => Promise.reject(new Error('even the answer failed')),
    },
    mount: () => undefined,
    serializeError: () => ({}),
    onBug: parts.onBug,
    connectionsMax: 10,
    unread,
  });
  const { port } = await server.listen();
  t.after(() => server.close({ farewellMs: 0, drainMs: 100 }));
  const ask = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'a/b', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }),
    });
  for (const path of ['/chat/completions', '/messages']) {
    const response = await ask(path);
    assert.equal(response.status, 500);
    const text = await response.text();
    assert.doesNotMatch(text, /secret of the house/);
    const { error } = JSON.parse(text) as { error: { code: number; metadata: { error_type: string } } };
    assert.deepEqual([error.code, error.metadata.error_type], [500, 'server']);
  }
  assert.equal(bugs.length, 2);
  await assert.rejects(ask('/broken'), 'a handler that cannot even answer drops the connection');
  assert.equal(bugs.length, 3);
});
