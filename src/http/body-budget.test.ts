import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { samplePrincipal } from '../../tests/support/principal.ts';
import { createBodyBudget } from './body-budget.ts';
import { registerManagementRoutes } from './management/register-routes.ts';
import { MANAGEMENT_ROUTES } from './routes.ts';
import { servicesOf } from '../../tests/support/management/services.ts';

/** Four copies of it fit, and not a byte more. */
const BODY = JSON.stringify({ unknown: 'x'.repeat(1_000) });

test('counts nothing that is taken after the release', () => {
  const budget = createBodyBudget(4_000);
  const gone = budget.open('one');
  gone.release();
  gone.take(1_000);
  budget.open('two').take(1_000);
  assert.throws(() => budget.open('two').take(1), { status: 503 });
});

test(
  'frees the memory of a body whose caller hung up during the look-up of its key',
  { timeout: 20_000 },
  async (context) => {
    const [begun, found, closed] = Array.from({ length: 3 }, () => Promise.withResolvers<undefined>());
    assert.ok(begun !== undefined && found !== undefined && closed !== undefined);
    const fastify = Fastify();
    context.after(() => fastify.close());
    registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
      async authenticate() {
        begun.resolve(undefined);
        await found.promise;
        return samplePrincipal({ kind: 'management' });
      },
      services: servicesOf({}),
      bodies: createBodyBudget(4 * BODY.length),
      log: { error: () => undefined },
    });
    const { origin, port } = new URL(await fastify.listen({ host: '127.0.0.1', port: 0 }));
    fastify.server.once('request', (_request, response) => response.once('close', () => closed.resolve(undefined)));

    const caller = connect(Number(port), '127.0.0.1');
    caller.write(`POST /v1/keys HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
    await begun.promise;
    caller.destroy();
    await closed.promise;
    found.resolve(undefined);

    const reply = await fetch(`${origin}/v1/keys`, { method: 'POST', body: BODY });
    assert.equal(reply.status, 400, await reply.text());
  },
);
