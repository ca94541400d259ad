import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { mountScim } from './mount-scim.ts';

// @spec scim-3
test('answers 503 with Retry-After while the database is away, and reports a fault of its own', async (t) => {
  const reported: unknown[] = [];
  let thrown: Error = new Error('nothing was thrown');
  const fastify = Fastify();
  t.after(() => fastify.close());
  mountScim(fastify, {
    openScim: () => ({ list: () => Promise.reject(thrown) }) as never,
    log: { note: () => undefined },
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    admit: () => Promise.reject(thrown),
    baseUrl: undefined,
    groupPatchBody: false,
    isForwarded: false,
    onBug: (error) => reported.push(error),
  });
  thrown = Object.assign(new Error('connection refused'), { transient: true });
  const away = await fastify.inject({ url: '/scim/v2/Users' });
  const { status, detail } = away.json<{ status: string; detail: string }>();
  assert.deepEqual([away.statusCode, away.headers['retry-after'], status], [503, '1', '503']);
  assert.match(away.headers['content-type'] as string, /^application\/scim\+json/);
  assert.match(detail, /database/);
  thrown = new Error('a secret path');
  const bug = await fastify.inject({ url: '/scim/v2/Users' });
  assert.equal(bug.statusCode, 500);
  assert.doesNotMatch(bug.body, /secret/);
  assert.equal(reported.length, 2);
});
