import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MANAGEMENT_ROUTES } from '../../../src/http/routes.ts';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { signIn } from '../../support/http/console-client.ts';
import { API_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';

const METHODS = ['get', 'post', 'patch', 'put', 'delete'];

/** Every operation of `/openapi.json`, as `GET /keys/{hash}`, with what it says of sessions. */
async function operationsOf({ url }: RunningGateway): Promise<ReadonlyMap<string, JsonObject>> {
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json();
  assert.ok(isJsonObject(document) && isJsonObject(document['paths']));
  const operations = new Map<string, JsonObject>();
  for (const [path, item] of Object.entries(document['paths']))
    for (const method of METHODS) {
      const operation = isJsonObject(item) ? item[method] : undefined;
      if (isJsonObject(operation)) operations.set(`${method.toUpperCase()} ${path}`, operation);
    }
  return operations;
}

suite('roles of sessions', () => {
  // @spec console-11
  test('let a member into no route of operators, and refuse it before anything else is looked at', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const member = await signIn(gateway, { key: API_KEY });
    const operators = [...(await operationsOf(gateway))].filter(
      ([name, operation]) => operation['x-console-role'] === undefined && !name.includes(' /ui/'),
    );
    assert.ok(operators.length > 40);
    for (const [name] of operators) {
      const [method = '', path = ''] = name.split(' ');
      const { status } = await member.call(method, `/ui/api/v1${path.replaceAll(/[{}]/g, '')}`);
      assert.equal(status, 403, name);
    }
  });

  // @spec console-11
  test('are said by each route: those of management keys are for operators, all others for members too', () => {
    for (const { scope, role, path } of MANAGEMENT_ROUTES)
      assert.equal(role, scope === 'management' ? undefined : 'member', path);
  });

  test('are written on every operation that a member may call', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const operations = await operationsOf(gateway);
    for (const name of ['POST /chat/completions', 'POST /route/explain', 'GET /models', 'GET /key', 'GET /generation'])
      assert.equal(operations.get(name)?.['x-console-role'], 'member', name);
  });
});
