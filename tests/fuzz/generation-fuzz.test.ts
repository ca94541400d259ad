import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, suite, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Pool } from 'undici';
import { findFault, type RawAnswer } from '../support/fuzz/check-answer.ts';
import { createFuzzRequest, type FuzzRequest } from '../support/fuzz/requests.ts';
import { API_KEY } from '../support/gateway.ts';
import { parsePrometheus } from '../support/http/prometheus.ts';
import { createRandom, readSeed, seedOf } from '../support/random.ts';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { emit } from '../support/upstreams/speak.ts';
import type { Script } from '../support/upstream.ts';

const SEED = readSeed();
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 2_500);
/** The request to begin with: to run a failing one alone, with FUZZ_REQUESTS=1. */
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const IN_FLIGHT = 24;
const REQUEST_MS_MAX = 15_000;
const HEAP_GROWTH_MB_MAX = 48;
const RAW_REQUESTS = 300;

/** Members that are the gateway's alone, whatever value they have. */
const GATEWAY_MEMBERS =
  `provider plugins models fallbacks route session_id trace user stop_server_tools_when max_tool_calls
  preset debug transforms usage x_search_filter n`.split(/\s+/);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const socketsBefore = countSockets();

let isClosed = false;
const closers: (() => Promise<void>)[] = [];
const { gateway, chat, messages } = await startScriptedFormats({ after: (closer) => void closers.push(closer) });
after(close);

const leaked: string[] = [];
for (const [upstream, speak] of [
  // A vendor is also called in the format in which it searches by itself.
  [chat, emit('Said in chat.')],
  [messages, emit('Said in messages.')],
] as const)
  upstream.script = watchful(speak, upstream.arrived);

/** Looks at what arrives and forgets it again. */
function watchful(speak: Script, arrivals: { length: number }): Script {
  return (arrived, response, request) => {
    arrivals.length = 0;
    const members = GATEWAY_MEMBERS.filter((member) => Object.hasOwn(arrived.body, member));
    if (members.length > 0) leaked.push(`${arrived.path}: ${members.join(' ')}`);
    if (JSON.stringify(arrived.headers).includes(API_KEY)) leaked.push(`${arrived.path}: the key of the caller`);
    return speak(arrived, response, request);
  };
}

const pool = new Pool(gateway.url, {
  connections: IN_FLIGHT,
  pipelining: 1,
  headersTimeout: REQUEST_MS_MAX,
  bodyTimeout: REQUEST_MS_MAX,
});

async function close(): Promise<void> {
  if (isClosed) return;
  isClosed = true;
  await pool.destroy();
  for (const closeOne of closers) await closeOne();
}

let slowestMs = 0;

async function send({ path, headers, body }: FuzzRequest): Promise<RawAnswer> {
  const answer = await pool.request({ method: 'POST', path, headers, body });
  const text = await answer.body.text();
  return { status: answer.statusCode, contentType: String(answer.headers['content-type'] ?? ''), text };
}

/** What is wrong with how the gateway takes this request; `undefined`: nothing. */
async function tryRequest(
  request: FuzzRequest,
): Promise<{ readonly status: number; readonly fault: string | undefined }> {
  const startedMs = performance.now();
  try {
    const answer = await send(request);
    const tookMs = performance.now() - startedMs;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > REQUEST_MS_MAX) return { status: answer.status, fault: `took ${tookMs} ms` };
    // All upstreams are well and at hand: nothing may be said to be their fault.
    const fault = answer.status >= 500 ? `status ${answer.status}: ${answer.text}` : findFault(request.path, answer);
    return { status: answer.status, fault };
  } catch (error) {
    return { status: 0, fault: `no answer: ${String(error)}` };
  }
}

/** Takes members and items away for as long as the fault stays. */
async function shrink(request: FuzzRequest): Promise<FuzzRequest> {
  let smallest = request;
  for (let tries = 0, progress = true; progress && tries < 300;) {
    progress = false;
    for (const body of smallerBodies(smallest.body.toString())) {
      if (++tries > 300) break;
      const candidate = { ...smallest, body: Buffer.from(body) };
      if ((await tryRequest(candidate)).fault === undefined) continue;
      smallest = candidate;
      progress = true;
      break;
    }
  }
  return smallest;
}

function* smallerBodies(text: string): Generator<string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return;
  }
  yield* smallerValues(parsed, (value) => JSON.stringify(value));
}

function* smallerValues(node: unknown, wrap: (value: unknown) => string, depth = 0): Generator<string> {
  if (typeof node !== 'object' || node === null || depth > 20) return;
  if (Array.isArray(node)) {
    if (node.length > 8) yield wrap(node.slice(0, node.length / 2));
    for (const at of node.slice(0, 40).keys()) yield wrap(node.toSpliced(at, 1));
    for (const [at, item] of node.slice(0, 40).entries())
      yield* smallerValues(item, (value) => wrap(node.with(at, value)), depth + 1);
    return;
  }
  for (const name of Object.keys(node)) {
    const { [name]: _gone, ...rest } = node as Record<string, unknown>;
    yield wrap(rest);
  }
  for (const [name, member] of Object.entries(node))
    yield* smallerValues(member, (value) => wrap({ ...node, [name]: value }), depth + 1);
}

function describe(index: number, request: FuzzRequest, fault: string): string {
  const { path, headers, body } = request;
  return [
    `FUZZ_SEED=${SEED} FUZZ_FIRST=${index} FUZZ_REQUESTS=1`,
    fault.slice(0, 2_000),
    `POST ${path} ${JSON.stringify(headers).slice(0, 1_000)}`,
    `${body.length} bytes: ${body.toString().slice(0, 3_000)}`,
  ].join('\n');
}

suite(`generation requests, FUZZ_SEED=${SEED}`, () => {
  test(`get a response in the shape of their route, never 500, in ${REQUESTS} mutations`, async (t) => {
    const statuses = new Map<string, number>();
    const found: { readonly index: number; readonly request: FuzzRequest; readonly fault: string }[] = [];
    let next = FIRST;
    let warmMb = 0;
    async function work(): Promise<void> {
      while (next < FIRST + REQUESTS && found.length < 3) {
        const index = next++;
        if (index === FIRST + Math.floor(REQUESTS / 4)) warmMb = heapMb();
        const request = createFuzzRequest(createRandom(seedOf(SEED, index)), API_KEY);
        const { status, fault } = await tryRequest(request);
        const outcome = `${request.path} ${status}`;
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
        if (fault !== undefined) found.push({ index, request, fault });
      }
    }
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    const seconds = (performance.now() - startedMs) / 1_000;
    t.diagnostic(
      `seed ${SEED}: ${REQUESTS} requests in ${seconds.toFixed(1)} s, the slowest ${slowestMs.toFixed(0)} ms`,
    );
    t.diagnostic(JSON.stringify(Object.fromEntries([...statuses].toSorted(([a], [b]) => a.localeCompare(b)))));
    const [first] = found;
    if (first !== undefined) {
      const smallest = await shrink(first.request);
      const { fault } = await tryRequest(smallest);
      assert.fail(describe(first.index, smallest, fault ?? first.fault));
    }
    assert.deepEqual(leaked.slice(0, 5), []);
    if (REQUESTS < 1_000) return;
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses'])
      for (const status of [200, 400])
        assert.ok((statuses.get(`${path} ${status}`) ?? 0) > REQUESTS / 30, `many are ${status} on ${path}`);
    const growthMb = heapMb() - warmMb;
    t.diagnostic(`heap after a quarter of them ${warmMb.toFixed(1)} MB, since then ${growthMb.toFixed(1)} MB`);
    assert.ok(growthMb < HEAP_GROWTH_MB_MAX, `the heap grew by ${growthMb} MB`);
  });

  test(`are refused without a trace in ${RAW_REQUESTS} broken HTTP messages`, async () => {
    const random = createRandom(SEED);
    for (let batch = 0; batch < RAW_REQUESTS / 30; batch++)
      await Promise.all(Array.from({ length: 30 }, () => sendRaw(createRawRequest(random))));
  });

  test('leave the gateway healthy, without open streams or resources', async () => {
    for (const [path, more] of [
      ['/chat/completions', {}],
      ['/messages', { max_tokens: 50 }],
      ['/responses', { input: 'still there?' }],
    ] as const) {
      const asked = { messages: [{ role: 'user', content: 'still there?' }] };
      const response = await gateway.post(path, { model: 'sandbox/echo', ...asked, ...more });
      assert.equal(response.status, 200);
      assert.match(await response.text(), /still there\?/);
    }
    const metrics = parsePrometheus(await (await fetch(`${gateway.url}/metrics`)).text());
    assert.equal(metrics.find(({ name }) => name === 'gateway_open_streams')?.value, 0);
    assert.equal(metrics.find(({ name }) => name === 'gateway_records_lost_total')?.value, 0);
    const startedMs = performance.now();
    await close();
    assert.ok(performance.now() - startedMs < 5_000, 'closing is quick: nothing hangs');
    // The sockets of `fetch` above are its own.
    assert.ok(countSockets() <= socketsBefore + 2, process.getActiveResourcesInfo().join(' '));
  });
});

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function countSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
}

type Random = ReturnType<typeof createRandom>;

/** Bytes that are hardly HTTP any more. */
function createRawRequest(random: Random): Buffer {
  const body = '{"model":"sandbox/echo","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}';
  const target = random.pick([
    '/v1/chat/completions',
    '/v1/messages',
    '/v1/responses',
    '/v1/responses/%00?stream=true&starting_after=-1',
    '//v1/messages',
    '/v1/%6dessages',
    '/v1/../v1/messages',
    'http://evil.example.com/v1/messages',
    '*',
    `/v1/messages?${'x'.repeat(10_000)}`,
    '/v1/messages#x',
    '/%00',
    '/%',
    '/v1/generation?id=%ff%fe',
    "/v1/keys?offset=';--",
  ]);
  const lines = [
    `${random.pick(['POST', 'GET', 'PUT', 'BREW', 'post', 'OPTIONS', 'HEAD', 'CONNECT'])} ${target} HTTP/${random.pick(['1.1', '1.1', '1.0', '2.0', '9'])}`,
    `Host: ${random.pick(['x', '', 'evil.example.com', '127.0.0.1:1'])}`,
    `Authorization: ${random.pick([`Bearer ${API_KEY}`, 'Bearer \u0001', `Bearer ${'k'.repeat(20_000)}`, ''])}`,
    random.pick([
      `Content-Length: ${body.length}`,
      'Content-Length: -1',
      'Content-Length: 99999999999999999999',
      `Content-Length: ${body.length}\r\nContent-Length: 3`,
      'Transfer-Encoding: chunked',
      `Transfer-Encoding: chunked\r\nContent-Length: ${body.length}`,
      'Transfer-Encoding: gzip, chunked',
      'Expect: 100-continue',
      'Expect: nonsense',
      'Upgrade: websocket\r\nConnection: Upgrade',
    ]),
    random.pick([
      'X-A: b',
      'X-A',
      ': b',
      'X-A: \u0000',
      `X-A: ${'y'.repeat(200_000)}`,
      'X A: b',
      'Content-Encoding: br',
    ]),
  ];
  const chunked = lines.some((line) => line.includes('chunked'));
  const sent = chunked
    ? random.pick([`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, 'zz\r\n', '5\r\nab'])
    : body;
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${sent}`, 'latin1');
}

/** Sends and hangs up once anything came back, or after a moment. Whatever the answer is, it must not be a 500. */
function sendRaw(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const timer = setTimeout(() => socket.destroy(), 300);
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (/^HTTP\/1\.1 (?!100)\d{3} .*\r\n\r\n/s.test(received)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      if (/^HTTP\/1\.1 50[0-9] /.test(received))
        reject(new Error(`${received}\nfor ${bytes.toString('latin1').slice(0, 500)}`));
      else resolve();
    });
    socket.write(bytes);
  });
}
