import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { after, test } from 'node:test';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../../tests/support/http/loopback-certificate.ts';
import { startTunnelProxy } from '../../../tests/support/http/tunnel-proxy.ts';
import { createHttpClient, type HttpClient } from '../../lib/net/http-client.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import type { ProviderEntry } from '../../providers/build-provider.ts';
import { createProviders } from '../../providers/index.ts';
import { checkProvider } from './check-provider.ts';
import type { ProviderFinding } from './finding.ts';

const TIMEOUTS = { connectMs: 2_000, headersMs: 2, firstTokenMs: 3, idleMs: 4, wholeMs: 5 };
const direct = createHttpClient();
const servers: TcpServer[] = [];
after(async () => {
  await direct.close();
  for (const server of servers) {
    if ('closeAllConnections' in server) (server as Server).closeAllConnections();
    server.close();
  }
});

async function listen(server: TcpServer): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Script = (requested: string, message: IncomingMessage) => Reply;

async function serve(script: Script): Promise<{ readonly host: string; readonly requested: readonly string[] }> {
  const requested: string[] = [];
  const answerTo = (message: IncomingMessage, answer: ServerResponse): void => {
    const line = `${message.method ?? ''} ${message.url ?? ''}`;
    requested.push(line);
    message.resume();
    const { status, body, headers = {} } = script(line, message);
    const isText = typeof body === 'string';
    answer.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers });
    answer.end(isText ? body : JSON.stringify(body));
  };
  return { host: await listen(createServer(answerTo)), requested };
}

interface Look {
  readonly entry: Partial<ProviderEntry>;
  readonly models?: readonly string[];
  readonly limitMs?: number;
  readonly http?: HttpClient;
}

function look({ entry, models = [], limitMs = 3_000, http = direct }: Look): Promise<ProviderFinding> {
  const whole = {
    slug: 'alpha',
    adapter: 'openai-compatible',
    apiKey: 'the-key-0123456789',
    headers: {},
    timeouts: {},
  };
  const provider = createProviders({ config: [{ ...whole, ...entry }], env: {}, timeouts: TIMEOUTS }).get('alpha');
  assert.ok(provider !== undefined);
  return checkProvider(provider, { http, nowMs: () => Date.now(), models, limitMs });
}

const MODELS = { status: 200, body: { data: [{ id: 'one' }, { id: 'two' }] } };

test('accepts a provider that lists its models', async () => {
  const { host, requested } = await serve((_asked, message) =>
    message.headers.authorization === 'Bearer the-key-0123456789' ? MODELS : { status: 401, body: {} },
  );
  const finding = await look({ entry: { baseUrl: `http://${host}/v1` }, models: ['one'] });
  assert.deepEqual([finding.verdict, finding.message], ['ok', 'The key works; 2 models are listed.']);
  assert.deepEqual(requested, ['GET /v1/models']);
});

test('warns of a model that endpoints name and the provider does not list', async () => {
  const { host } = await serve(() => MODELS);
  const finding = await look({ entry: { baseUrl: `http://${host}/v1` }, models: ['one', 'three'] });
  assert.equal(finding.verdict, 'warning');
  assert.match(finding.message, /Not among them, though endpoints name them: three\.$/);
});

test("reports a refused key with the provider's message but without the key", async () => {
  const { host } = await serve(() => ({
    status: 401,
    body: { error: { message: 'Incorrect API key provided: the-key-0123456789.', code: 'invalid_api_key' } },
  }));
  const { verdict, message } = await look({ entry: { baseUrl: `http://${host}/v1` } });
  assert.equal(verdict, 'failed');
  assert.match(message, /^The key was refused \(401: Incorrect API key provided: /);
  assert.match(message, /providers\.alpha\.api_key/);
  assert.ok(!message.includes('the-key-0123456789'));
});

test('checks a host without a list of models with an empty request', async () => {
  const { host, requested } = await serve((line) =>
    line === 'POST /v1/chat/completions'
      ? { status: 400, body: { error: { message: 'model is required' } } }
      : { status: 404, body: { error: { message: 'not found' } } },
  );
  const finding = await look({ entry: { baseUrl: `http://${host}/v1` } });
  assert.deepEqual([finding.verdict, finding.message], ['ok', 'The key works.']);
  assert.deepEqual(requested, ['GET /v1/models', 'POST /v1/chat/completions']);
});

test('distinguishes an address without the API from a wrong key', async () => {
  const { host } = await serve(() => ({ status: 404, body: { error: { message: 'no route' } } }));
  const { verdict, message } = await look({ entry: { baseUrl: `http://${host}/v2` } });
  assert.equal(verdict, 'failed');
  assert.match(message, new RegExp(`^There is no such API at http://${host}/v2 \\(404: no route\\): check base_url`));
});

for (const [name, reply, expected] of [
  ['a web page', { status: 200, body: '<!doctype html><title>Welcome</title>' }, /answers with a web page \(200\)/],
  ['a page that is not found', { status: 404, body: '<html>404</html>' }, /answers with a web page \(404\)/],
  [
    'an address that has moved',
    { status: 301, body: {}, headers: { location: 'https://new.example/v1/models' } },
    /sends callers elsewhere \(301 to https:\/\/new\.example\/v1\/models\)/,
  ],
  ['an account without credit', { status: 402, body: { error: { message: 'Top up.' } } }, /no credit: Top up\.$/],
  [
    'a provider that is down',
    { status: 503, body: { error: { message: 'maintenance' } } },
    /answers 503: maintenance\.$/,
  ],
] as const satisfies readonly (readonly [string, Reply, RegExp])[]) {
  test(`reports ${name} in a sentence`, async () => {
    const { host } = await serve(() => reply);
    const { verdict, message } = await look({ entry: { baseUrl: `http://${host}/v1` } });
    assert.equal(verdict, 'failed');
    assert.match(message, expected);
  });
}

test('reports a used-up rate as no fault of the configuration', async () => {
  const { host } = await serve(() => ({ status: 429, body: { error: { message: 'slow down' } } }));
  const { verdict, message } = await look({ entry: { baseUrl: `http://${host}/v1` } });
  assert.equal(verdict, 'warning');
  assert.match(message, /^The key works, but/);
});

test('detects a clock that is off, and names it where a credential is refused', async () => {
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const { host } = await serve(() => ({ status: 403, body: { error: { message: 'expired' } }, headers: { date } }));
  const finding = await look({ entry: { baseUrl: `http://${host}/v1` } });
  assert.ok(Math.abs((finding.clockAheadMs ?? 0) - 3_600_000) < 5_000);
  assert.match(finding.message, /clock is wrong/);
});

test('reports a port without a listener', async () => {
  const server = createTcpServer();
  const host = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const { verdict, message } = await look({ entry: { baseUrl: `http://${host}/v1` } });
  assert.equal(verdict, 'failed');
  assert.equal(message, `Nothing listens at ${host}: is it running, and is base_url right?`);
});

test('reports an unknown host name', async () => {
  // RFC 6761: no name below `invalid` exists, so no server is queried for it.
  const { message } = await look({ entry: { baseUrl: 'http://alpha.invalid/v1' } });
  assert.match(message, /^The name alpha\.invalid is not known to DNS/);
});

test('reports an untrusted certificate', async () => {
  const host = await listen(createTlsServer({ key: LOOPBACK_KEY, cert: LOOPBACK_CERTIFICATE }));
  const { message } = await look({ entry: { baseUrl: `https://${host}/v1` } });
  assert.match(message, /^The certificate of 127\.0\.0\.1:\d+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
});

test('reports https where only http is spoken, and the reverse', async () => {
  const { host } = await serve(() => MODELS);
  const plain = await look({ entry: { baseUrl: `https://${host}/v1` } });
  assert.match(plain.message, /does not speak TLS: http:\/\/ in place of https:\/\//);
  const secure = await listen(createTlsServer({ key: LOOPBACK_KEY, cert: LOOPBACK_CERTIFICATE }));
  const { message } = await look({ entry: { baseUrl: `http://${secure}/v1` } });
  assert.match(message, /https:\/\/ in place of http:\/\//);
});

test('reports a port with another protocol', async () => {
  const host = await listen(
    createTcpServer((socket) => socket.once('data', () => socket.write('220 mail.example ESMTP\r\n'))),
  );
  const { message } = await look({ entry: { baseUrl: `http://${host}/v1` } });
  assert.match(message, /does not speak HTTP/);
});

test('reports a proxy that cannot be reached, and not the provider', async () => {
  const http = createHttpClient({ proxyOf: createProxyOf({ https: 'http://127.0.0.1:9', except: [] }) });
  const { message } = await look({ entry: { baseUrl: 'https://alpha.example/v1' }, http });
  await http.close();
  assert.equal(message, 'The proxy 127.0.0.1:9 cannot be reached (ECONNREFUSED): check HTTPS_PROXY and HTTP_PROXY.');
});

test('reports a proxy that refuses the connection', async () => {
  const proxy = await startTunnelProxy(
    () => 0,
    () => 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n',
  );
  const http = createHttpClient({ proxyOf: createProxyOf({ https: proxy.url, except: [] }) });
  const { message } = await look({ entry: { baseUrl: 'https://alpha.example/v1' }, http });
  await Promise.all([http.close(), proxy.close()]);
  const { host } = new URL(proxy.url);
  assert.equal(
    message,
    `The proxy ${host} refuses a connection to alpha.example:443 with status 407: check user and password in HTTPS_PROXY and HTTP_PROXY.`,
  );
});

test('does not wait for a silent host', async () => {
  const host = await listen(createTcpServer());
  const { verdict, message } = await look({ entry: { baseUrl: `http://${host}/v1` }, limitMs: 100 });
  assert.deepEqual([verdict, message], ['failed', 'There was no response within 0.1 seconds.']);
});

test('does not call a vendor without its key', async () => {
  const whole = { slug: 'groq', adapter: 'groq', headers: {}, timeouts: {} };
  const provider = createProviders({ config: [whole], env: {}, timeouts: TIMEOUTS }).get('groq');
  assert.ok(provider !== undefined);
  const finding = await checkProvider(provider, { http: direct, nowMs: () => Date.now(), models: [], limitMs: 1 });
  assert.deepEqual(finding, {
    verdict: 'failed',
    message: 'There is no key: set GROQ_API_KEY, or providers.groq.api_key.',
  });
});

test('reports a key as refused that a vendor refuses with 400', async () => {
  const { host, requested } = await serve((line) =>
    line.startsWith('GET')
      ? { status: 404, body: {} }
      : { status: 400, body: { error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } } },
  );
  const entry = { adapter: 'google', baseUrl: `http://${host}/v1beta` };
  const { verdict, message } = await look({ entry, models: ['gemini-9'] });
  assert.equal(verdict, 'failed');
  assert.match(message, /^The key was refused \(400: API key not valid/);
  assert.deepEqual(requested, ['GET /v1beta/models', 'POST /v1beta/models/gemini-9:generateContent']);
});

test('reports a key as refused that a vendor refuses with 400 where it lists its models', async () => {
  const { host } = await serve(() => ({ status: 400, body: { error: { code: 400, message: 'API key not valid.' } } }));
  const { verdict, message } = await look({ entry: { adapter: 'google', baseUrl: `http://${host}/v1beta` } });
  assert.equal(verdict, 'failed');
  assert.equal(
    message,
    'The key was refused (400: API key not valid.). Check GEMINI_API_KEY or providers.alpha.api_key.',
  );
});

test('accepts a credential that may call models but not list them', async () => {
  const { host, requested } = await serve((line) =>
    line.startsWith('GET')
      ? { status: 403, body: { message: 'is not authorized to perform: bedrock:ListAsyncInvokes' } }
      : { status: 400, body: { message: 'The provided model identifier is invalid.' } },
  );
  const options = { region: 'us-east-1', access_key_id: 'AKID', secret_access_key: 'secret-secret' };
  const entry = { slug: 'alpha', adapter: 'bedrock', baseUrl: `http://${host}`, options, headers: {}, timeouts: {} };
  const provider = createProviders({ config: [entry], env: {}, timeouts: TIMEOUTS }).get('alpha');
  assert.ok(provider !== undefined);
  const finding = await checkProvider(provider, { http: direct, nowMs: () => Date.now(), models: [], limitMs: 3_000 });
  assert.deepEqual([finding.verdict, finding.message], ['ok', 'The credential works.']);
  assert.deepEqual(requested, ['GET /async-invoke?maxResults=1', 'POST /model/any-model/converse']);
});

test('names the settings that a refused credential comes from', async () => {
  const { host } = await serve(() => ({ status: 403, body: { message: 'The security token is invalid.' } }));
  const options = { region: 'us-east-1', access_key_id: 'AKID', secret_access_key: 'secret-secret' };
  const entry = { slug: 'alpha', adapter: 'bedrock', baseUrl: `http://${host}`, options, headers: {}, timeouts: {} };
  const provider = createProviders({ config: [entry], env: {}, timeouts: TIMEOUTS }).get('alpha');
  assert.ok(provider !== undefined);
  const { message } = await checkProvider(provider, {
    http: direct,
    nowMs: () => Date.now(),
    models: [],
    limitMs: 3_000,
  });
  assert.match(
    message,
    /^The credential was refused \(403: The security token is invalid\.\)\. Check providers\.alpha\.opt/,
  );
});

test('names the empty setting for a host that requires a key', async () => {
  const { host } = await serve(() => ({ status: 401, body: { error: { message: 'Unauthorized' } } }));
  const entry = {
    slug: 'alpha',
    adapter: 'openai-compatible',
    baseUrl: `http://${host}/v1`,
    headers: {},
    timeouts: {},
  };
  const provider = createProviders({ config: [entry], env: {}, timeouts: TIMEOUTS }).get('alpha');
  assert.ok(provider !== undefined);
  const { message } = await checkProvider(provider, {
    http: direct,
    nowMs: () => Date.now(),
    models: [],
    limitMs: 3_000,
  });
  assert.equal(message, 'The call without a key was refused (401: Unauthorized). Set providers.alpha.api_key.');
});

test('does not take an address without the API for one that lacks the model', async () => {
  const nowhere = await serve(() => ({ status: 404, body: { error: { message: 'no route' } } }));
  const wrong = await look({ entry: { adapter: 'google', baseUrl: `http://${nowhere.host}/v1betta` } });
  assert.equal(wrong.verdict, 'failed');
  assert.match(wrong.message, /^There is no such API at/);
  const lacking = await serve((line) =>
    line.startsWith('GET')
      ? { status: 404, body: {} }
      : { status: 404, body: { error: { message: 'models/any-model is not found for API version v1beta' } } },
  );
  const right = await look({ entry: { adapter: 'google', baseUrl: `http://${lacking.host}/v1beta` } });
  assert.equal(right.verdict, 'ok');
});

test('calls that are signed are checked with a signature', async () => {
  const { host, requested } = await serve((_line, message) =>
    message.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=AKID/') === true
      ? { status: 200, body: { asyncInvokeSummaries: [] } }
      : { status: 403, body: { message: 'unsigned' } },
  );
  const options = { region: 'us-east-1', access_key_id: 'AKID', secret_access_key: 'secret' };
  const entry = { slug: 'alpha', adapter: 'bedrock', baseUrl: `http://${host}`, options, headers: {}, timeouts: {} };
  const provider = createProviders({ config: [entry], env: {}, timeouts: TIMEOUTS }).get('alpha');
  assert.ok(provider !== undefined);
  const finding = await checkProvider(provider, { http: direct, nowMs: () => Date.now(), models: [], limitMs: 3_000 });
  assert.equal(finding.verdict, 'ok');
  assert.deepEqual(requested, ['GET /async-invoke?maxResults=1']);
});
