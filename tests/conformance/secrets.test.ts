import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chatAnswer, chatChunk, json, sse, startUpstream, stream, type Script } from '../support/upstream.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Keys with a well-known beginning, and keys that look like nothing in particular. */
const CANARIES = {
  ownKey: 'mgw-canaryCaller3e9b51c0d8a74f6fb0c2',
  managementKey: 'canary.management.7c1f0b9e2d',
  wrongKey: 'canaryWrong/55e0c1b2a3d4',
  chatKey: 'sk-canaryChat0123456789abcdef012345',
  messagesKey: 'canary~messages~8d2e4f60718293a4b5c6',
} as const;

interface RunningProcess {
  readonly baseUrl: string;
  readonly url: string;
  readonly dataDir: string;
  /** Everything that it has printed on either stream. */
  readonly printed: () => string;
  stop(): Promise<number | null>;
}

/** The gateway as an operator starts it: a process of its own, with the log at its most talkative. */
async function startProcess(yaml: string): Promise<RunningProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'gateway-secrets-'));
  const config = join(dir, 'gateway.yaml');
  const dataDir = join(dir, 'data');
  await writeFile(config, yaml);
  const child = spawn(process.execPath, [MAIN, '--config', config, '--port', '0', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      GATEWAY_API_KEY: CANARIES.ownKey,
      GATEWAY_MANAGEMENT_KEY: CANARIES.managementKey,
      CANARY_CHAT_KEY: CANARIES.chatKey,
      CANARY_MESSAGES_KEY: CANARIES.messagesKey,
      GATEWAY_LOG_LEVEL: 'trace',
    },
  });
  let printed = '';
  const listening = Promise.withResolvers<string>();
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = /listening on (http:\/\/\S+)/.exec(printed)?.[1];
      if (url !== undefined) listening.resolve(url);
    });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  void exited.then(() => listening.reject(new Error(`it ended before it listened: ${printed}`)));
  const url = await listening.promise;
  return {
    url,
    baseUrl: `${url}/v1`,
    dataDir,
    printed: () => printed,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}

/** Says back everything that came with the request, in every member where an error has words. */
function echoError(status: number): Script {
  return (arrived, response, request) => {
    const seen = `Incorrect API key provided: ${keyOf(arrived.headers)}. Headers: ${JSON.stringify(arrived.headers)}`;
    const error = { message: seen, type: keyOf(arrived.headers), code: keyOf(arrived.headers), param: seen };
    void json(status, { type: 'error', error, detail: seen, request_id: seen }, { 'x-echo': keyOf(arrived.headers) })(
      arrived,
      response,
      request,
    );
  };
}

function keyOf(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  return String(headers['x-api-key'] ?? headers['authorization']).replace('Bearer ', '');
}

const scripts: Readonly<Record<string, Script>> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 413, 422, 429, 500, 503, 529].map((status) => [`status ${status}`, echoError(status)]),
  ),
  'an error page': (arrived, response) => {
    response.writeHead(400, { 'content-type': 'text/html' });
    response.end(`<h1>Bad key ${keyOf(arrived.headers)}</h1>`);
  },
  'an error of status 200': (arrived, response, request) =>
    json(200, { error: { message: `no: ${keyOf(arrived.headers)}`, code: keyOf(arrived.headers) } })(
      arrived,
      response,
      request,
    ),
  'an error event in a stream': (arrived, response, request) =>
    stream(
      sse([
        chatChunk({ role: 'assistant', content: 'half' }),
        { type: 'error', error: { message: `no: ${keyOf(arrived.headers)}`, code: keyOf(arrived.headers), type: 'x' } },
      ]),
    )(arrived, response, request),
  'garbage in a stream': (arrived, response, request) =>
    stream(`data: {"key": ${keyOf(arrived.headers)}\n\n`)(arrived, response, request),
  'garbage as a whole': (arrived, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"key": ${keyOf(arrived.headers)}`);
  },
  'an answer': json(200, chatAnswer('fine')),
};

const upstream = await startUpstream(json(200, chatAnswer('fine')));
const gateway = await startProcess(`
providers:
  chatty: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: "\${CANARY_CHAT_KEY}" }
  wordy: { adapter: messages-compatible, base_url: "${upstream.baseUrl}", api_key: "\${CANARY_MESSAGES_KEY}" }
models:
  "chat/*": { provider: chatty }
  "messages/*": { provider: wordy }
`);
after(async () => {
  await upstream.close();
  await rm(join(gateway.dataDir, '..'), { recursive: true, force: true });
});

/** Everything that any answer said, headers too. */
const answers: string[] = [];
let requests = 0;
let madeKey = '';

async function ask(path: string, body: unknown, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${CANARIES.ownKey}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  answers.push(`${path} ${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
  return response.status;
}

function assertClean(text: string, where: string): void {
  for (const [name, canary] of Object.entries(CANARIES)) {
    const at = text.indexOf(canary);
    assert.equal(at, -1, `${name} stands in ${where}: ${text.slice(Math.max(0, at - 300), at + canary.length + 40)}`);
  }
}

suite('secrets', () => {
  for (const [name, script] of Object.entries(scripts))
    // @spec operation-5
    test(`appear in no response: ${name}`, async () => {
      upstream.script = script;
      // A model each, because an endpoint that failed rests for a while.
      for (const path of ['/chat/completions', '/messages'])
        for (const from of ['chat', 'messages'])
          for (const streaming of [false, true])
            await ask(
              path,
              {
                model: `${from}/model-${requests++}`,
                max_tokens: 20,
                stream: streaming,
                messages: [{ role: 'user', content: 'hi' }],
              },
              { 'x-service-metadata': 'enabled' },
            );
      for (const answer of answers.splice(0)) assertClean(answer, 'an answer');
      for (const { headers, text } of upstream.arrived.splice(0)) {
        const everything = JSON.stringify(headers) + text;
        assert.ok(!everything.includes(CANARIES.ownKey), "the caller's key went upstream");
      }
    });

  test('appear in no error for a refused key, or for a key in a body that is not JSON', async () => {
    const body = { model: 'chat/x', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
    assert.equal(await ask('/messages', body, { authorization: `Bearer ${CANARIES.wrongKey}` }), 401);
    assert.equal(await ask('/chat/completions', body, { authorization: `Basic ${CANARIES.wrongKey}` }), 401);
    assert.equal(await ask('/messages', body, { authorization: '', 'x-api-key': CANARIES.wrongKey }), 401);
    assert.equal(await ask('/chat/completions', `{"api_key": ${CANARIES.ownKey}`), 400);
    assert.equal(await ask('/chat/completions', { ...body, temperature: CANARIES.ownKey.length }), 400);
    assert.equal(await ask('/chat/completions', body, { authorization: `Bearer ${CANARIES.managementKey}` }), 403);
    for (const answer of answers.splice(0)) assertClean(answer, 'an answer');
  });

  // @spec auth-11
  test('appear in key management as labels and hashes, and a new key once', async () => {
    const headers = { authorization: `Bearer ${CANARIES.managementKey}`, 'content-type': 'application/json' };
    const created = await fetch(`${gateway.baseUrl}/keys`, { method: 'POST', headers, body: '{"name":"new"}' });
    assert.equal(created.status, 201);
    const { key } = (await created.json()) as { key: string };
    assert.ok(key.length > 20);
    const list = await (await fetch(`${gateway.baseUrl}/keys`, { headers })).text();
    assert.ok(!list.includes(key));
    assertClean(list, 'the list of keys');
    const used = await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } });
    assert.ok(!(await used.text()).includes(key));
    madeKey = key;
  });

  // @spec operation-4, operation-5
  test('appear neither in metrics, nor in the log, nor on disk', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assert.equal(await gateway.stop(), 0);
    const log = gateway.printed();
    const stored = await readAll(gateway.dataDir);
    // The searched files must contain something: the log has a line for every request, and the rows are there.
    assert.ok(log.split('\n').length > requests && log.includes('rate_limit_exceeded'), 'the log was captured');
    assert.ok(stored.includes('SQLite format 3') && stored.includes('provider_unavailable'), 'the database was read');
    assert.ok(madeKey !== '');
    for (const [where, text] of [
      ['the metrics', metrics],
      ['the log', log],
      ['the data directory', stored],
    ] as const) {
      assertClean(text, where);
      assert.ok(!text.includes(madeKey), `the new key stands in ${where}`);
    }
  });
});

async function readAll(dir: string): Promise<string> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}
