import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { bring, manage, textAt } from '../support/byok.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';

/** A provider that lists two models to the one good key. */
async function startProvider(): Promise<Server> {
  const server = createServer(({ headers }, response) => {
    const isGood = headers.authorization === 'Bearer sk-good-key-of-mine';
    const refusal = { error: { message: 'Incorrect API key provided: sk-wrong-key-of-mine' } };
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isGood ? { data: [{ id: 'one' }, { id: 'two' }] } : refusal));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

suite('checks of providers', () => {
  let provider: Server;
  let gateway: RunningGateway;
  before(async () => {
    provider = await startProvider();
    const address = provider.address();
    assert.ok(typeof address === 'object' && address !== null);
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: http://127.0.0.1:${address.port}/v1, api_key: sk-good-key-of-mine }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one }] }
`,
    });
  });
  after(async () => {
    await gateway.close();
    provider.closeAllConnections();
    provider.close();
  });

  function checked({ status, body }: { readonly status: number; readonly body: JsonObject }): JsonObject {
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(isJsonObject(body['data']));
    return body['data'];
  }

  test('list providers that are on with the name of their credential, and others with what turns them on', async () => {
    const { status, body, text } = await manage(gateway, 'GET', '/providers/status');
    assert.equal(status, 200);
    assert.ok(Array.isArray(body['data']));
    const bySlug = new Map(body['data'].filter((row) => isJsonObject(row)).map((row) => [row['slug'], row]));
    const alpha = bySlug.get('alpha') ?? {};
    assert.deepEqual(
      [alpha['on'], alpha['credential'], alpha['models'], alpha['hint']],
      [true, 'providers.alpha.api_key', 1, null],
    );
    const groq = bySlug.get('groq') ?? {};
    assert.deepEqual([groq['on'], groq['credential']], [false, null]);
    assert.match(textAt(groq, 'hint'), /GROQ_API_KEY/);
    assert.doesNotMatch(text, /sk-good/);
  });

  test('call a provider of the gateway, and the sandbox not at all', async () => {
    const { verdict, message } = checked(await manage(gateway, 'POST', '/providers/alpha/test'));
    assert.equal(verdict, 'ok');
    assert.match(textAt({ message: message ?? '' }, 'message'), /2 models are listed/);
    assert.equal(checked(await manage(gateway, 'POST', '/providers/sandbox/test'))['verdict'], 'ok');
    assert.equal((await manage(gateway, 'POST', '/providers/none/test')).status, 404);
  });

  test('say of a credential whether it works before it is stored and after, without showing it', async () => {
    const good = await manage(gateway, 'POST', '/byok/test', { provider: 'alpha', key: 'sk-good-key-of-mine' });
    assert.equal(checked(good)['verdict'], 'ok');
    const wrong = await manage(gateway, 'POST', '/byok/test', { provider: 'alpha', key: 'sk-wrong-key-of-mine' });
    const { verdict, message } = checked(wrong);
    assert.equal(verdict, 'failed');
    assert.match(textAt({ message: message ?? '' }, 'message'), /refused \(401/);
    assert.doesNotMatch(wrong.text, /sk-wrong-key-of-mine|providers\.alpha/);
    const id = textAt(await bring(gateway, 'alpha', 'sk-wrong-key-of-mine'), 'id');
    assert.equal(checked(await manage(gateway, 'POST', `/byok/${id}/test`))['verdict'], 'failed');
    assert.equal((await manage(gateway, 'POST', '/byok/none/test')).status, 404);
    const unknown = await manage(gateway, 'POST', '/byok/test', { provider: 'alpha2', key: 'k' });
    assert.equal(unknown.status, 400);
    assert.match(unknown.text, /did you mean \\"alpha\\"/);
  });

  test('leave no audit event with a credential', async () => {
    const { text } = await manage(gateway, 'GET', '/audit');
    assert.doesNotMatch(text, /sk-good|sk-wrong|testNewByokKey/);
  });
});
