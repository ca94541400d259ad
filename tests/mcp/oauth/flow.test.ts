import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { once } from 'node:events';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { manage } from '../../support/byok.ts';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';
import { signIn } from '../../support/http/console-client.ts';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../support/http/loopback-certificate.ts';
import { dataOf, join, makeWorkspace } from '../../support/http/people-client.ts';
import { connectByConsent, connectWith, OauthMemory, transportOf } from '../../support/mcp/oauth-client.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../../support/upstream.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };

suite('programs that connect to the MCP server by OAuth', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('Hello back.', { usage: USAGE })));
    gateway = await startGateway({
      yaml: `
organization: { enabled: true }
mcp_server: { enabled: true, oauth: true, registration: true, private_addresses: true }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { name: Acme One, endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 10 } }] }
`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  for (const [mode, path] of [
    ['auto', '/mcp'],
    ['legacy', '/v1/mcp'],
    ['auto', '/api/v1/mcp'],
  ] as const)
    // @spec own-mcp-8, own-mcp-9
    test(`run the whole way with the official client: ${mode} at ${path}`, async () => {
      const ann = await join(gateway, `ann-${mode}${path.length}@acme.example`);
      const memory = new OauthMemory();
      const client = await connectByConsent(gateway, memory, ann.session, { mode, path });
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === 'list-models'));
      const models = await client.callTool({ name: 'list-models', arguments: { query: 'acme' } });
      assert.match(JSON.stringify(models.structuredContent), /acme\/one/);
      assert.equal(memory.sentTo?.searchParams.get('resource'), gateway.url + path);
      assert.equal(memory.sentTo?.searchParams.get('scope'), 'mcp:read');
      const [access, refresh] = [memory.saved?.access_token, memory.saved?.refresh_token];
      // Nothing but a token is what a token is good for.
      for (const token of [access, refresh])
        for (const [route, sent] of [
          ['/chat/completions', { model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] }],
          ['/key', undefined],
        ] as const) {
          const reply = await fetch(gateway.baseUrl + route, {
            method: sent === undefined ? 'GET' : 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(sent !== undefined && { body: JSON.stringify(sent) }),
          });
          assert.equal(reply.status, 401, route);
        }
      await client.close();
    });

  // @spec own-mcp-9
  test('request more scopes when a tool costs money, and are charged to a key of their own', async () => {
    const bob = await join(gateway, 'bob@acme.example');
    const memory = new OauthMemory();
    const reader = await connectByConsent(gateway, memory, bob.session);
    const send = { name: 'send-message', arguments: { model: 'acme/one', message: 'Hi', max_tokens: 90 } };
    await assert.rejects(reader.callTool(send), UnauthorizedError);
    assert.equal(memory.sentTo?.searchParams.get('scope'), 'mcp:read mcp:spend');
    await reader.close();
    memory.saved = undefined;
    const scopes = ['mcp:read', 'mcp:spend'];
    const spender = await connectByConsent(gateway, memory, bob.session, { scopes, limit: 0.001 });
    const answer = await spender.callTool(send);
    assert.match(JSON.stringify(answer.structuredContent), /Hello back\./);
    const { content, isError } = await spender.callTool(send);
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /402/);
    const { body } = await bob.session.call('GET', '/ui/api/connections');
    const [{ key_hash: hash, client_name: name, user_id: owner } = {}] = body['data'] as Record<string, string>[];
    assert.deepEqual([name, owner], ['Test Editor', bob.id]);
    const key = await manage(gateway, 'GET', `/keys/${hash}`);
    assert.deepEqual(
      [dataOf(key)['name'], dataOf(key)['creator_user_id'], dataOf(key)['usage']],
      ['MCP: Test Editor', bob.id, 0.00101],
    );
    await spender.close();
  });

  // @spec own-mcp-9
  test('get new tokens for an old one by themselves, once', async () => {
    const cy = await join(gateway, 'cy@acme.example');
    const memory = new OauthMemory();
    await (await connectByConsent(gateway, memory, cy.session)).close();
    const first = memory.saved;
    assert.ok(first?.refresh_token);
    memory.saved = { ...first, access_token: `mcp-${'a'.repeat(43)}` };
    const client = await connectWith(transportOf(gateway, memory));
    assert.notEqual(memory.saved.refresh_token, first.refresh_token);
    await client.listTools();
    await client.close();
    const again = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const reply = await fetch(`${gateway.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...again, client_id: memory.information?.client_id ?? '' }),
    });
    assert.equal(reply.status, 400);
    assert.equal(((await reply.json()) as { error: string }).error, 'invalid_grant');
    // The token was stolen, or its thief was faster: nothing that came of it is good.
    await assert.rejects(connectWith(transportOf(gateway, memory)), UnauthorizedError);
  });

  // @spec own-mcp-10
  test('end with their person, its membership, their key, and when they are revoked', async () => {
    const workspaceId = await makeWorkspace(gateway, 'lab');
    const workspaces = [{ workspace_id: workspaceId, role: 'member' }];
    const connect = async (email: string) => {
      const person = await join(gateway, email, { workspaces });
      const memory = new OauthMemory();
      const client = await connectByConsent(gateway, memory, person.session, { workspace_id: workspaceId });
      await client.listTools();
      await client.close();
      const { body } = await person.session.call('GET', '/ui/api/connections');
      const [{ id = '', key_hash: hash = '' } = {}] = body['data'] as Record<string, string>[];
      const isGood = async () => {
        const sent = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
        const { status } = await fetch(`${gateway.url}/mcp`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${memory.saved?.access_token}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify(sent),
        });
        return status === 200;
      };
      assert.ok(await isGood());
      return { person, memory, id, hash, isGood };
    };
    const [dan, eve, fay, gus] = await Promise.all(
      ['dan', 'eve', 'fay', 'gus'].map((name) => connect(`${name}@acme.example`)),
    );
    assert.ok(dan && eve && fay && gus);
    await manage(gateway, 'PATCH', `/organization/members/${dan.person.id}`, { disabled: true });
    assert.equal(await dan.isGood(), false);
    await manage(gateway, 'PATCH', `/organization/members/${dan.person.id}`, { disabled: false });
    await manage(gateway, 'PATCH', `/keys/${dan.hash}`, { disabled: false });
    assert.equal(await dan.isGood(), false, 'an enabled key brings no connection back');
    await manage(gateway, 'PATCH', `/keys/${eve.hash}`, { disabled: true });
    assert.equal(await eve.isGood(), false);
    const removed = await manage(gateway, 'POST', `/workspaces/${workspaceId}/members/remove`, {
      user_ids: [eve.person.id],
    });
    assert.equal(removed.status, 200, removed.text);
    await manage(gateway, 'PATCH', `/keys/${eve.hash}`, { disabled: false });
    assert.equal(await eve.isGood(), false);
    const refreshed = await fetch(`${gateway.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: eve.memory.saved?.refresh_token ?? '',
        client_id: eve.memory.information?.client_id ?? '',
      }),
    });
    assert.equal(refreshed.status, 400);
    await manage(gateway, 'DELETE', `/keys/${fay.hash}`);
    assert.equal(await fay.isGood(), false);
    assert.equal((await eve.person.session.call('DELETE', `/ui/api/connections/${gus.id}`)).status, 404);
    assert.ok(await gus.isGood());
    assert.equal((await gus.person.session.call('DELETE', `/ui/api/connections/${gus.id}`)).status, 200);
    assert.equal(await gus.isGood(), false);
    assert.equal((await manage(gateway, 'GET', `/keys/${gus.hash}`)).status, 404);
  });

  // @spec own-mcp-10
  test('end by a revocation of their own', async () => {
    const operator = await signIn(gateway, { key: MANAGEMENT_KEY });
    const memory = new OauthMemory();
    await (await connectByConsent(gateway, memory, operator)).close();
    const revoke = (token: string) =>
      fetch(`${gateway.url}/oauth/revoke`, { method: 'POST', body: new URLSearchParams({ token }) });
    assert.equal((await revoke('nothing')).status, 200);
    assert.equal((await revoke(memory.saved?.refresh_token ?? '')).status, 200);
    await assert.rejects(connectWith(transportOf(gateway, memory)), UnauthorizedError);
  });

  // @spec own-mcp-11
  test('are named by a document, whose address the person is shown', async (t) => {
    setDefaultCACertificates([...getCACertificates('default'), LOOPBACK_CERTIFICATE]);
    let address = '';
    let read = 0;
    const documents = createServer({ cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }, (_request, response) => {
      read++;
      const facts = {
        client_id: address,
        client_name: 'Editor\u202Eevil',
        redirect_uris: ['http://127.0.0.1/callback'],
        token_endpoint_auth_method: 'none',
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(facts));
    }).listen(0, '127.0.0.1');
    t.after(() => documents.close());
    await once(documents, 'listening');
    const { port } = documents.address() as AddressInfo;
    address = `https://localhost:${port}/client.json`;
    const hal = await join(gateway, 'hal@acme.example');
    const memory = new OauthMemory();
    memory.clientMetadataUrl = address;
    await (await connectByConsent(gateway, memory, hal.session)).close();
    assert.equal(memory.information?.client_id, address);
    assert.equal(read, 1, 'the document is kept for some minutes');
    const shown = await hal.session.call('POST', '/ui/api/connections/request', {
      query: memory.sentTo?.search.slice(1),
    });
    const { client_name: name, client_host: host, redirect_host: redirect, is_loopback: loopback } = dataOf(shown);
    assert.deepEqual(
      [name, host, redirect, loopback],
      ['Editor\u{fffd}evil', `localhost:${port}`, '127.0.0.1:33418', true],
    );
  });
});
