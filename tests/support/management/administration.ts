import assert from 'node:assert/strict';
import Fastify from 'fastify';
import { createAdministration, type Administration } from '../../../src/app/administration.ts';
import { createAuthenticator } from '../../../src/accounts/keys/authenticate.ts';
import { createKeys, type Keys } from '../../../src/accounts/keys/keys.ts';
import { createCatalog } from '../../../src/catalog/catalog.ts';
import type { Model } from '../../../src/catalog/model.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { openDatabase } from '../../../src/store/engine/database.ts';
import { createKeyStore } from '../../../src/store/accounts/keys.ts';
import type { TestEngine } from '../store/engines.ts';
import { registerManagementRoutes } from '../../../src/http/management/register-routes.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/routes.ts';
import { readPlugins } from '../../../src/app/read-plugins.ts';
import { assertAsDocumented } from './documented.ts';
import { servicesOf } from './services.ts';
import { createBodyBudget } from '../../../src/http/body-budget.ts';

export interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  readonly text: string;
}

/** The management routes of workspaces, guardrails, keys and audit over a database of their own. */
export interface AdministrationServer {
  readonly administration: Administration;
  readonly keys: Keys;
  readonly managementKey: string;
  readonly managementHash: string;
  /** A key of the default workspace. */
  readonly normalKey: string;
  /** Moves the clock. */
  passMs(ms: number): void;
  /** Fails for an answer that its route does not document. @param key default: the management key; null: none */
  call(method: string, path: string, body?: unknown, key?: string | null): Promise<Reply>;
  /** A call that must succeed. Gives `data`, or the whole body where there is none. */
  must(method: string, path: string, body?: unknown): Promise<JsonObject>;
  close(): Promise<void>;
}

export const NOW_MS = Date.parse('2026-11-25T12:00:00Z');

export async function startAdministration(
  engine: TestEngine,
  models: readonly Model[] = [],
): Promise<AdministrationServer> {
  let nowMs = NOW_MS;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const place = await engine.makePlace();
  const database = await openDatabase({ path: place.path, url: place.url, clock });
  const keyStore = createKeyStore({ database });
  const keys = createKeys({ store: keyStore, clock });
  const catalog = createCatalog(models, []);
  const onLostAudit = (_event: unknown, error: unknown): never => assert.fail(String(error));
  const administration = createAdministration({ database, keyStore, catalog, clock, onLostAudit });
  const fastify = Fastify();
  registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
    authenticate: createAuthenticator({ keys: keyStore, clock, staticKeys: {} }),
    services: servicesOf({ keys, readPlugins, ...administration }),
    bodies: createBodyBudget(100_000_000),
    log: { error: ({ err }) => process.stderr.write(`${String(err)}\n`) },
  });
  const origin = await fastify.listen({ host: '127.0.0.1', port: 0 });
  const management = await keys.create({ name: 'Admin', kind: 'management' });
  const normal = await keys.create({ name: 'Caller' });
  const call: AdministrationServer['call'] = async (method, path, body, key = management.key) => {
    const response = await fetch(`${origin}/v1${path}`, {
      method,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = JSON.parse(text);
    assert.ok(isJsonObject(parsed), text);
    const reply = { status: response.status, body: parsed, text };
    assertAsDocumented(method, path, reply);
    return reply;
  };
  return {
    administration,
    keys,
    managementKey: management.key,
    managementHash: management.record.hash,
    normalKey: normal.key,
    passMs: (ms) => void (nowMs += ms),
    call,
    async must(method, path, body) {
      const reply = await call(method, path, body);
      assert.ok(reply.status < 300, reply.text);
      return isJsonObject(reply.body['data']) ? reply.body['data'] : reply.body;
    },
    async close() {
      await fastify.close();
      await database.close();
      await place.remove();
    },
  };
}

/** A refusal in the shape of @spec error-1, whose code is its status. */
export function assertRefused(reply: Reply, status: number, message: RegExp = /./): void {
  const { error } = reply.body;
  assert.ok(isJsonObject(error), reply.text);
  assert.equal(reply.status, status, reply.text);
  assert.equal(error['code'], status);
  assert.match(textOf(error['message']), message);
}

export function textOf(value: Json | undefined): string {
  assert.ok(typeof value === 'string', `expected a text, got ${JSON.stringify(value)}`);
  return value;
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  assert.ok(Array.isArray(value), `expected a list, got ${JSON.stringify(value)}`);
  return value.map((item: Json) => {
    assert.ok(isJsonObject(item));
    return item;
  });
}
