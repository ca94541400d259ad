import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import Fastify from 'fastify';
import { z } from 'zod';
import { createAudit, type Change } from '../../accounts/audit.ts';
import type { AuditEvent } from '../../resources/audit-events.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import { ENGINES } from '../../../tests/support/store/engines.ts';
import {
  assertRefused,
  listOf,
  NOW_MS,
  startAdministration,
  textOf,
  type AdministrationServer,
} from '../../../tests/support/management/administration.ts';
import { servicesOf } from '../../../tests/support/management/services.ts';
import { defineRoute, NOTHING } from './route.ts';
import { registerManagementRoutes } from './register-routes.ts';
import { createBodyBudget } from '../body-budget.ts';

const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };

for (const engine of ENGINES)
  suite(`audit events over ${engine.name}`, () => {
    let gateway: AdministrationServer;
    before(async () => {
      gateway = await startAdministration(engine);
    });
    after(() => gateway.close());

    const events = async (query = '') => listOf((await gateway.must('GET', `/audit${query}`))['data']);
    const lastEvent = async () => {
      const [event] = await events('?limit=1');
      assert.ok(event !== undefined);
      return event;
    };

    // @spec workspace-14
    test('records the author, the subject and the new values of a change', async () => {
      gateway.passMs(1);
      const { id } = await gateway.must('POST', '/workspaces', { name: 'Team', slug: 'audited', description: 'x' });
      const event = await lastEvent();
      assert.match(textOf(event['id']), /^audit-/);
      assert.deepEqual(
        { ...event, id: '' },
        {
          id: '',
          at: new Date(NOW_MS + 1).toISOString(),
          actor: { key_hash: gateway.managementHash, label: (await gateway.keys.get(gateway.managementHash)).label },
          action: 'createWorkspace',
          subject: `/workspaces/${textOf(id)}`,
          changes: { name: 'Team', slug: 'audited', description: 'x' },
        },
      );
    });

    test('lists the events of a time, from its start to before its end', async () => {
      const timeOf = (ms: number): string => encodeURIComponent(new Date(ms).toISOString());
      gateway.passMs(1_000);
      await gateway.must('POST', '/workspaces', { name: 'Late', slug: 'late' });
      const late = await lastEvent();
      const atMs = Date.parse(textOf(late['at']));
      assert.deepEqual(await events(`?from=${timeOf(atMs)}`), [late]);
      assert.deepEqual(await events(`?from=${timeOf(atMs)}&to=${timeOf(atMs)}`), []);
      assert.ok((await events(`?to=${timeOf(atMs)}`)).length > 0);
    });

    // @spec workspace-14
    test('leaves one event for every kind of change, under a stable name', async () => {
      const workspace = `/workspaces/${textOf((await gateway.must('POST', '/workspaces', { name: 'T', slug: 't' }))['id'])}`;
      const guardrail = `/guardrails/${textOf((await gateway.must('POST', '/guardrails', { name: 'G' }))['id'])}`;
      const hash = textOf((await gateway.must('POST', '/keys', { name: 'App' }))['hash']);
      const key = `/keys/${hash}`;
      const keys = { key_hashes: [hash] };
      const members = { member_user_ids: ['ann'] };
      for (const [method, path, body, action, subject] of [
        ['PATCH', '/workspaces/t', { name: 'U' }, 'updateWorkspace', workspace],
        ['PUT', '/workspaces/t/budgets/daily', { limit_usd: 1 }, 'putWorkspaceBudget', `${workspace}/budgets/daily`],
        ['DELETE', `${workspace}/budgets/daily`, undefined, 'deleteWorkspaceBudget', `${workspace}/budgets/daily`],
        ['POST', `${workspace}/members/add`, { user_ids: ['ann'] }, 'addWorkspaceMembers', `${workspace}/members/add`],
        ['PATCH', key, { limit: 5 }, 'updateKey', key],
        ['PATCH', guardrail, { limit_usd: 5 }, 'updateGuardrail', guardrail],
        ['POST', `${guardrail}/assignments/keys`, keys, 'assignKeysToGuardrail', `${guardrail}/assignments/keys`],
        [
          'POST',
          `${guardrail}/assignments/members`,
          members,
          'assignMembersToGuardrail',
          `${guardrail}/assignments/members`,
        ],
        ['DELETE', guardrail, undefined, 'deleteGuardrail', guardrail],
        ['DELETE', key, undefined, 'deleteKey', key],
        ['DELETE', '/workspaces/t', undefined, 'deleteWorkspace', workspace],
      ] as const) {
        gateway.passMs(1);
        const count = Number((await gateway.must('GET', '/audit'))['total_count']);
        await gateway.must(method, path, body);
        const event = await lastEvent();
        assert.deepEqual([event['action'], event['subject'], event['changes']], [action, subject, body ?? {}]);
        assert.equal((await gateway.must('GET', '/audit'))['total_count'], count + 1);
      }
    });

    test('leaves none for a read or a refused change', async () => {
      const earlier = await events();
      await gateway.must('GET', '/workspaces');
      assertRefused(await gateway.call('POST', '/workspaces', { name: '' }), 400);
      assertRefused(await gateway.call('DELETE', `/keys/${'0'.repeat(64)}`), 404);
      assertRefused(await gateway.call('POST', '/keys', { name: 'App' }, gateway.normalKey), 403);
      assert.deepEqual(await events(), earlier);
    });

    // @spec workspace-15
    test('finds events by action, subject and author', async () => {
      const hash = textOf((await gateway.must('POST', '/keys', { name: 'Found' }))['hash']);
      for (const name of ['One', 'Two']) {
        gateway.passMs(1);
        await gateway.must('PATCH', `/keys/${hash}`, { name });
      }
      const names = (found: Awaited<ReturnType<typeof events>>) => found.map(({ changes }) => changes);
      assert.deepEqual(names(await events(`?subject=/keys/${hash}`)), [
        { name: 'Two' },
        { name: 'One' },
        { name: 'Found' },
      ]);
      assert.deepEqual(names(await events(`?subject=/keys/${hash}&action=updateKey&offset=1`)), [{ name: 'One' }]);
      assert.equal((await events(`?actor=${'0'.repeat(64)}`)).length, 0);
      assert.ok((await events(`?actor=${gateway.managementHash}&limit=100`)).length > 3);
    });

    test('answers 400 for a page that is too long and an unknown filter', async () => {
      for (const query of ['limit=101', 'limit=0', 'offset=-1', 'who=me', 'action='])
        assertRefused(await gateway.call('GET', `/audit?${query}`), 400, /^query/);
    });
  });

// @spec workspace-14
test("records only the names of a body's members where the route does not declare it free of secrets", async (context) => {
  const changes: Change[] = [];
  const fastify = Fastify();
  context.after(() => fastify.close());
  const route = defineRoute({
    method: 'POST',
    path: '/vaults/{name}',
    scope: 'management',
    operationId: 'fillVault',
    tag: 'Test',
    summary: 'Takes a secret',
    params: z.strictObject({ name: z.string() }),
    query: NOTHING,
    body: z.strictObject({ password: z.string() }),
    responses: { 200: { description: 'Done.', schema: z.unknown() } },
    errors: [],
    handle: () => ({ status: 200, body: {} }),
  });
  registerManagementRoutes(fastify, [route], {
    authenticate: () => samplePrincipal({ kind: 'management' }),
    services: servicesOf({
      audit: {
        watch: () => undefined,
        record: async (change) => void changes.push(change),
        list: () => assert.fail('is not called'),
      },
    }),
    bodies: createBodyBudget(100_000_000),
    log: { error: ({ err }) => assert.fail(String(err)) },
  });
  const origin = await fastify.listen({ host: '127.0.0.1', port: 0 });
  const body = JSON.stringify({ password: 'open sesame' });
  await fetch(`${origin}/v1/vaults/one`, { method: 'POST', body });
  assert.deepEqual(
    changes.map(({ action, subject, changes: reported }) => ({ action, subject, reported })),
    [{ action: 'fillVault', subject: '/vaults/one', reported: { password: '(changed)' } }],
  );
});

suite('recording', () => {
  const change: Change = { actor: 'command line', action: 'updateKey', subject: '/keys/x', changes: { name: 'New' } };

  test('keeps a change whose event cannot be stored, and passes the event on', async () => {
    const lost: AuditEvent[] = [];
    const audit = createAudit({
      store: { append: () => Promise.reject(new Error('full')), list: () => assert.fail('is not called') },
      clock,
      onLost: (event) => lost.push(event),
    });
    await audit.record(change);
    assert.deepEqual(
      lost.map(({ action, actorKeyHash, actorLabel, changes }) => [action, actorKeyHash, actorLabel, changes]),
      [['updateKey', null, 'command line', { name: 'New' }]],
    );
  });

  test('keeps the names of a change that is too large', async () => {
    const stored: AuditEvent[] = [];
    const audit = createAudit({
      store: { append: async (event) => void stored.push(event), list: () => assert.fail('is not called') },
      clock,
      onLost: () => assert.fail('none is lost'),
    });
    await audit.record({ ...change, changes: { content_filters: 'x'.repeat(20_000), name: 'G' } });
    assert.deepEqual(stored[0]?.changes, { content_filters: '(changed)', name: '(changed)' });
  });
});
