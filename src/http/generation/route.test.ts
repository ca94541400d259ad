import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import { systemClock } from '../../lib/clock.ts';
import { LARGE_BYTES, type LoopTurns } from '../../lib/async/loop-turns.ts';
import { createChatClientFormat } from '../../wire/chat/format.ts';
import { createBodyBudget } from '../body-budget.ts';
import { createGenerationRoute } from './route.ts';
import type { Generate } from '../../pipeline/request.ts';

const chat = createChatClientFormat({ plugin: z.never() });

/** A route that works on large bodies in these turns. @returns its address */
async function startRoute(t: TestContext, turns: LoopTurns, generate: Generate): Promise<string> {
  const route = createGenerationRoute(chat, {
    authenticate: () => samplePrincipal(),
    generate,
    presets: { use: () => assert.fail('no preset is named') },
    clock: systemClock,
    bodyLimits: { bytesMax: 10_000_000, idleMs: 5_000, totalMs: 5_000 },
    bodies: createBodyBudget(100_000_000),
    turns,
    unread: { waitForReader: () => undefined },
    allowApiKeyHeader: false,
    baseUrl: () => 'http://x/v1',
    rename: (name) => name,
    draining: () => false,
    onRefused: () => undefined,
    onBug: (error) => assert.fail(String(error)),
  });
  const server = createServer((request, response) => void route(request, response)).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

function post(url: string, content: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify({ model: 'a/b', messages: [{ role: 'user', content }] }),
  });
}

test('serves a small request while a large one waits for its next step', async (t) => {
  const steps: (() => void)[] = [];
  let onStep = (): void => undefined;
  const turns: LoopTurns = {
    next() {
      const { promise, resolve } = Promise.withResolvers<void>();
      steps.push(resolve);
      onStep();
      return promise;
    },
  };
  const isLargeOf: (boolean | undefined)[] = [];
  const url = await startRoute(t, turns, ({ id, isLarge }, _, caller) => {
    isLargeOf.push(isLarge);
    caller.answer(id, '{}');
    return Promise.resolve();
  });
  const nextStep = async (): Promise<void> => {
    if (steps.length === 0) await new Promise<void>((resolve) => void (onStep = resolve));
    onStep = () => undefined;
  };
  const large = post(url, 'x'.repeat(LARGE_BYTES));
  // As text, within bounds, parsed, its numbers, decoded, generated.
  for (let step = 0; step < 6; step++) {
    await nextStep();
    assert.equal((await post(url, 'x')).status, 200);
    assert.equal(steps.length, 1, 'a small request waits for no turn');
    steps.shift()?.();
  }
  assert.equal((await large).status, 200);
  assert.deepEqual(isLargeOf, [false, false, false, false, false, false, true]);
});
