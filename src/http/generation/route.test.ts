import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import { systemClock } from '../../lib/clock.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createSpool } from '../../lib/files/spool.ts';
import { LARGE_BYTES, type LoopTurns } from '../../lib/async/loop-turns.ts';
import { createChatClientFormat } from '../../wire/chat/format.ts';
import { createBodyBudget } from '../body-budget.ts';
import { createBodyRoute, createGenerationRoute, type BodyRouteDeps, type RawHandler } from './route.ts';
import type { Generate } from '../../pipeline/request.ts';

const chat = createChatClientFormat({ plugin: z.never() });

const DEPS: BodyRouteDeps = {
  authenticate: () => samplePrincipal(),
  clock: systemClock,
  bodyLimits: { bytesMax: 10_000_000, idleMs: 5_000, totalMs: 5_000 },
  bodies: createBodyBudget(100_000_000),
  turns: { next: () => Promise.resolve() },
  unread: { waitForReader: () => undefined },
  allowApiKeyHeader: false,
  baseUrl: () => 'http://x/v1',
  draining: () => false,
  onRefused: () => undefined,
  onBug: (error) => assert.fail(String(error)),
};

/** A route that works on large bodies in these turns. @returns its address */
function startRoute(t: TestContext, turns: LoopTurns, generate: Generate): Promise<string> {
  const presets = { use: () => assert.fail('no preset is named') };
  return serve(t, createGenerationRoute(chat, { ...DEPS, turns, generate, presets, rename: (name) => name }));
}

async function serve(t: TestContext, route: RawHandler): Promise<string> {
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

/** A route that takes forms, and answers with what it was handed. */
function startFormRoute(t: TestContext, deps: Partial<BodyRouteDeps> = {}): Promise<string> {
  const forms = {
    rules: { filesMax: 1, fileBytesMax: 400_000, fileFields: new Set(['file']) },
    types: { temperature: 'number' },
    spool: createSpool(join(tmpdir(), `route-${process.pid}`)),
    idleMs: 5_000,
    totalMs: 5_000,
  } as const;
  const route = createBodyRoute(chat, { ...DEPS, forms, ...deps }, ({ body, files }, response) => {
    const held = files.map(({ field, file }) => [field, file.bytes]);
    response.end(JSON.stringify({ body, files: held }));
    return Promise.resolve();
  });
  return serve(t, route);
}

function formOf(fields: Readonly<Record<string, string>>, fileBytes: number): FormData {
  const form = new FormData();
  form.append('file', new Blob([Buffer.alloc(fileBytes)]), 'a.wav');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

// @spec request-34
test('hands on a form as the body in JSON that says the same, and its files', async (t) => {
  const url = await startFormRoute(t);
  const body = { model: 'a/b', temperature: 0.5, extra: 'x' };
  const form = await fetch(url, { method: 'POST', body: formOf({ ...body, temperature: '0.5' }, 300_000) });
  assert.deepEqual(await form.json(), { body, files: [['file', 300_000]] });
  const json = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual(await json.json(), { body, files: [] });
  const other = await fetch(url, { method: 'POST', body: 'model=a/b', headers: { 'content-type': 'text/csv' } });
  assert.equal(other.status, 400);
});

// @spec request-35, auth-18
test('refuses a form like a body in JSON: first the key, then the place, then its size and its fields', async (t) => {
  const refuse = (type: 'authentication' | 'rate_limit_exceeded') => () =>
    Promise.reject(new GatewayError(type, 'No.'));
  const tooLarge = formOf({ temperature: 'warm' }, 500_000);
  const cases = [
    [{ authenticate: refuse('authentication'), enter: refuse('rate_limit_exceeded') }, tooLarge, 401],
    [{ enter: refuse('rate_limit_exceeded') }, tooLarge, 429],
    [{}, tooLarge, 413],
    [{}, formOf({ temperature: 'warm' }, 10), 400],
  ] as const;
  for (const [deps, body, status] of cases) {
    const response = await fetch(await startFormRoute(t, deps), { method: 'POST', body });
    assert.equal(response.status, status);
  }
});
