import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, parseJson, type JsonObject } from '../../../src/lib/json.ts';
import { textAt } from '../../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';
import { callRaw, signIn, type SignedIn } from '../../support/http/console-client.ts';
import { allow } from '../../support/mcp/oauth-client.ts';

const VERIFIER = 'v'.repeat(64);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const BACK = 'http://127.0.0.1:7777/callback';

suite('the authorization server of the MCP server', () => {
  let gateway: RunningGateway;
  let operator: SignedIn;
  before(async () => {
    gateway = await startGateway({
      yaml: `
server: { public_url: "https://gateway.example" }
mcp_server:
  enabled: true
  oauth: true
  registration: true
  clients: [{ client_id: editor, name: Editor, redirect_uris: ["http://127.0.0.1/callback", "https://editor.example/back"] }]
`,
    });
    operator = await signIn(gateway);
  });
  after(() => gateway.close());

  const usual = () => ({
    response_type: 'code',
    client_id: 'editor',
    redirect_uri: BACK,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    resource: `${gateway.url}/mcp`,
    state: 'a-state',
  });
  const ask = (changes: Record<string, string | undefined> = {}) => {
    const fields = Object.entries({ ...usual(), ...changes }).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    return fetch(`${gateway.url}/oauth/authorize?${new URLSearchParams(fields).toString()}`, { redirect: 'manual' });
  };
  const post = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(gateway.url + path, { method: 'POST', body: new URLSearchParams(fields) });
    const body = parseJson(await response.text());
    return { status: response.status, body: isJsonObject(body) ? body : {}, headers: response.headers };
  };
  const codeOf = async (): Promise<string> => {
    const location = (await ask()).headers.get('location') ?? '';
    const back = await allow(operator, location);
    assert.equal(back.searchParams.get('state'), 'a-state');
    assert.equal(back.searchParams.get('iss'), gateway.url);
    return back.searchParams.get('code') ?? '';
  };
  const exchange = (code: string, changes: Record<string, string> = {}) =>
    post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      client_id: 'editor',
      redirect_uri: BACK,
      code_verifier: VERIFIER,
      ...changes,
    });
  const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const list = (token: string, headers: Record<string, string> = {}) =>
    callRaw(
      gateway,
      'POST',
      '/mcp',
      {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      LIST,
    );

  // @spec own-mcp-8
  test('describes itself without a key, at each address that clients look at', async () => {
    for (const path of ['', '/mcp', '/v1/mcp', '/api/v1/mcp'])
      for (const name of ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration']) {
        const response = await fetch(`${gateway.url}/.well-known/${name}${path}`);
        assert.equal(response.status, 200, name + path);
        assert.equal(response.headers.get('access-control-allow-origin'), '*');
        const document = (await response.json()) as JsonObject;
        if (name === 'oauth-protected-resource') {
          assert.equal(document['resource'], gateway.url + (path || '/mcp'));
          assert.deepEqual(document['authorization_servers'], [gateway.url]);
        } else {
          assert.equal(document['issuer'], gateway.url);
          assert.deepEqual(document['code_challenge_methods_supported'], ['S256']);
          assert.equal(document['registration_endpoint'], `${gateway.url}/oauth/register`);
        }
      }
    assert.equal((await fetch(`${gateway.url}/mcp/.well-known/oauth-protected-resource`)).status, 200);
    for (const token of ['', `mcp-${'a'.repeat(43)}`, 'no-key-at-all']) {
      const { status, headers } = await list(token);
      assert.equal(status, 401);
      assert.match(
        headers['www-authenticate'] ?? '',
        /^Bearer .*scope="mcp:read", resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/mcp"/,
      );
    }
    assert.equal((await list(API_KEY)).status, 200);
  });

  // @spec own-mcp-8
  test('shows an error page in place of a redirect to an address that the client has not named', async () => {
    for (const changes of [
      { client_id: 'nobody' },
      { client_id: undefined },
      { redirect_uri: undefined },
      { redirect_uri: 'https://evil.example/back' },
      { redirect_uri: 'https://editor.example/back/../other' },
      { redirect_uri: 'https://editor.example:8443/back' },
      { redirect_uri: 'http://127.0.0.1:7777/callback?x=1' },
      { redirect_uri: 'http://127.0.0.1.evil.example/callback' },
      { redirect_uri: 'http://localhost/callback' },
      { redirect_uri: 'javascript:alert(1)' },
      { client_id: '<script>alert(1)</script>' },
      { client_id: 'https://127.0.0.1:1/client.json' },
    ]) {
      const response = await ask(changes);
      assert.equal(response.status, 400, JSON.stringify(changes));
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(response.headers.get('location'), null);
      assert.equal(response.headers.get('x-frame-options'), 'DENY');
      assert.doesNotMatch(await response.text(), /<script/);
    }
    const twice = await fetch(
      `${gateway.url}/oauth/authorize?${new URLSearchParams(usual()).toString()}&redirect_uri=https://editor.example/back`,
      { redirect: 'manual' },
    );
    assert.equal(twice.status, 400);
  });

  // @spec own-mcp-8
  test('tells the client what else is wrong', async () => {
    for (const [changes, code] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge_method: undefined }, 'invalid_request'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
      [{ resource: `${gateway.url}/v1` }, 'invalid_target'],
    ] as const) {
      const { status, headers } = await ask(changes);
      const location = new URL(headers.get('location') ?? '');
      assert.deepEqual(
        [status, location.origin, location.searchParams.get('error'), location.searchParams.get('state')],
        [302, 'http://127.0.0.1:7777', code, 'a-state'],
      );
      assert.equal(location.searchParams.get('iss'), gateway.url);
    }
  });

  // @spec own-mcp-9
  test('gives tokens for a code once, to the client that it is for', async () => {
    const code = await codeOf();
    for (const changes of [
      { client_id: 'other' },
      { redirect_uri: 'http://127.0.0.1:7778/callback' },
      { code_verifier: 'w'.repeat(64) },
      { code_verifier: '' },
    ]) {
      const { status, body } = await exchange(code, changes);
      assert.deepEqual([status, body['error']], [400, 'invalid_grant'], JSON.stringify(changes));
    }
    const foreign = await exchange(code, { resource: 'https://other.example/mcp' });
    assert.deepEqual([foreign.status, foreign.body['error']], [400, 'invalid_target']);
    const { status, body, headers } = await exchange(code, { resource: `${gateway.url}/mcp` });
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.deepEqual([body['token_type'], body['expires_in'], body['scope']], ['Bearer', 3600, 'mcp:read']);
    const token = textAt(body, 'access_token');
    assert.equal((await list(token)).status, 200);
    assert.equal((await exchange(code)).status, 400);
    assert.equal((await list(token)).status, 401, 'a code that comes again ends what it had opened');
  });

  // @spec own-mcp-9
  test('takes a code from one of many that come at once', async () => {
    const code = await codeOf();
    const replies = await Promise.all(Array.from({ length: 8 }, () => exchange(code)));
    assert.ok(replies.filter(({ status }) => status === 200).length <= 1);
    assert.ok(replies.every(({ status }) => status === 200 || status === 400));
  });

  // @spec own-mcp-9
  test('refuses a token at another host, as a key, and as a refresh token', async () => {
    const { body } = await exchange(await codeOf());
    const token = textAt(body, 'access_token');
    const forwarded = { host: 'gateway.example', 'x-forwarded-proto': 'https' };
    const elsewhere = await list(token, forwarded);
    assert.equal(elsewhere.status, 401);
    assert.match(
      elsewhere.headers['www-authenticate'] ?? '',
      /resource_metadata="https:\/\/gateway\.example\/\.well-known\/oauth-protected-resource\/mcp"/,
    );
    assert.equal((await list(API_KEY, forwarded)).status, 200);
    const asRefresh = { grant_type: 'refresh_token', refresh_token: token, client_id: 'editor' };
    assert.equal((await post('/oauth/token', asRefresh)).body['error'], 'invalid_grant');
    assert.equal((await list(textAt(body, 'refresh_token'))).status, 401);
    assert.equal((await post('/oauth/token', { grant_type: 'password' })).body['error'], 'unsupported_grant_type');
    const page = await fetch(`${gateway.url}/oauth/token`, { method: 'POST', body: '{}' });
    assert.equal(page.status, 400);
    assert.equal(page.headers.get('access-control-allow-origin'), null);
  });

  // @spec own-mcp-10
  test('refuses the consent of a normal key, and consent without a session', async () => {
    const member = await signIn(gateway, { key: API_KEY });
    const sent = { query: new URLSearchParams(usual()).toString(), scopes: ['mcp:read'], limit: 1, expires_at: null };
    assert.equal((await member.call('POST', '/ui/api/connections', sent)).status, 403);
    const type = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const open = await callRaw(gateway, 'POST', '/ui/api/connections', type, JSON.stringify(sent));
    assert.equal(open.status, 401);
    const wrong = {
      ...sent,
      query: new URLSearchParams({ ...usual(), redirect_uri: 'https://evil.example/' }).toString(),
    };
    assert.equal((await operator.call('POST', '/ui/api/connections', wrong)).status, 400);
    assert.equal((await operator.call('POST', '/ui/api/connections', { ...sent, scopes: [] })).status, 400);
  });

  // @spec own-mcp-11
  test('registers clients that are public, with safe addresses, ten an hour', async () => {
    const register = async (metadata: unknown) => {
      const response = await fetch(`${gateway.url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
      });
      return [response.status, ((await response.json()) as JsonObject)['error']];
    };
    assert.deepEqual(await register({ redirect_uris: [BACK] }), [201, undefined]);
    for (const [metadata, code] of [
      ['no JSON', 'invalid_client_metadata'],
      [{}, 'invalid_redirect_uri'],
      [{ redirect_uris: ['http://evil.example/'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [1] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [BACK], token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
    ] as const)
      assert.deepEqual(await register(metadata), [400, code], JSON.stringify(metadata));
    for (let calls = 6; calls < 10; calls++) await register({});
    assert.deepEqual(await register({ redirect_uris: [BACK] }), [429, 'temporarily_unavailable']);
  });
});

// @spec own-mcp-8
test('is not there where the operator has not turned it on', async (t) => {
  const gateway = await startGateway({ yaml: 'mcp_server: { enabled: true }' });
  t.after(() => gateway.close());
  for (const path of ['/.well-known/oauth-protected-resource', '/oauth/authorize', '/oauth/token'])
    assert.equal((await fetch(gateway.url + path)).status, 404, path);
  const operator = await signIn(gateway);
  const { status, text } = await operator.call('GET', '/ui/api/connections');
  assert.equal(status, 404);
  assert.match(text, /oauth: true/);
});
