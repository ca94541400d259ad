import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startSandbox, type Sandbox, type SandboxRequest } from './server.ts';
import { textAt } from '../../tests/support/providers/sandbox-client.ts';

let sandbox: Sandbox;
/** Callbacks that wait for a request with this text, and for its caller to hang up. */
const arrivals = new Map<string, () => void>();
const hangUps = new Map<string, () => void>();
let hangUpCount = 0;

before(async () => {
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    onRequest: (request) => arrivals.get(userTextOf(request))?.(),
    onHangUp: (request) => {
      hangUpCount++;
      hangUps.get(userTextOf(request))?.();
    },
  });
});
after(() => sandbox.close());

function userTextOf(request: SandboxRequest): string {
  return textAt(request.body, 'messages.0.content');
}

function occurrence(waiting: Map<string, () => void>, userText: string): Promise<void> {
  return new Promise((resolve) => {
    waiting.set(userText, resolve);
  });
}

interface Exchange {
  readonly response: Response;
  /** Text that came, with the time of each read in ms since the call. */
  readonly reads: readonly { readonly atMs: number; readonly text: string }[];
  /** How the reading ended. */
  readonly error: unknown;
}

function body(model: string, content: string, stream: boolean): string {
  return JSON.stringify({ model, stream, max_tokens: 1_000, messages: [{ role: 'user', content }] });
}

function call(path: string, text: string, signal?: AbortSignal): Promise<Response> {
  return fetch(sandbox.baseUrl + path, {
    method: 'POST',
    headers: { 'anthropic-version': '2023-06-01' },
    body: text,
    ...(signal !== undefined && { signal }),
  });
}

async function exchange(path: string, text: string): Promise<Exchange> {
  const startedMs = performance.now();
  const response = await call(path, text);
  const reads: { atMs: number; text: string }[] = [];
  const decoder = new TextDecoder();
  let error: unknown;
  try {
    for await (const chunk of response.body ?? [])
      reads.push({ atMs: performance.now() - startedMs, text: decoder.decode(chunk, { stream: true }) });
  } catch (thrown) {
    error = thrown;
  }
  return { response, reads, error };
}

const joined = ({ reads }: Exchange): string => reads.map(({ text }) => text).join('');
const count = (text: string, word: string): number => text.split(word).length - 1;

for (const [path, lifecycle, token] of [
  ['/chat/completions', '"role":"assistant"', '"content":"one"'],
  ['/messages', 'content_block_start', '"text":"one"'],
] as const) {
  test(`${path}: sends the lifecycle of a slow response first and its first token late`, async () => {
    const { reads } = await exchange(path, body('slow', 'one ms=1000', true));
    const lifecycleMs = reads.find(({ text }) => text.includes(lifecycle))?.atMs ?? Number.NaN;
    const tokenMs = reads.find(({ text }) => text.includes(token))?.atMs ?? Number.NaN;
    assert.ok(tokenMs >= 999, `first token after ${tokenMs} ms`);
    assert.ok(tokenMs - lifecycleMs > 100, `lifecycle after ${lifecycleMs} ms`);
  });

  test(`${path}: sends nothing of a slow whole response before its time`, async () => {
    const startedMs = performance.now();
    await call(path, body('slow', 'one ms=150', false));
    assert.ok(performance.now() - startedMs >= 149);
  });

  test(`${path}: keeps the pace of a long response, streamed or whole`, async () => {
    const streamed = await exchange(path, body('long', 'tokens=5 every=30', true));
    assert.ok((streamed.reads.at(-1)?.atMs ?? 0) >= 4 * 29);
    assert.ok(streamed.reads.length >= 4, 'tokens come one by one');
    const whole = await exchange(path, body('long', 'tokens=5 every=30', false));
    assert.ok((whole.reads.at(-1)?.atMs ?? 0) >= 4 * 29);
  });

  test(`${path}: breaks a cut stream off half way, without an end`, async () => {
    const { response, error, ...rest } = await exchange(path, body('cut', 'one two three four', true));
    const text = joined({ response, error, ...rest });
    assert.equal(response.status, 200);
    assert.ok(error !== undefined, 'the reader sees the break');
    assert.ok(text.includes(token));
    assert.ok(!text.includes('four') && !text.includes('[DONE]') && !text.includes('message_stop'));
    assert.ok(!text.includes('"finish_reason":"') && !text.includes('"stop_reason":"'));
  });

  test(`cuts a stream after the requested number of tokens: ${path}`, async () => {
    const one = await exchange(path, body('cut', 'one two three four after=1', true));
    assert.ok(one.error !== undefined);
    assert.ok(joined(one).includes(token) && !joined(one).includes('two'));
    const none = await exchange(path, body('cut', 'one two three four after=0', true));
    assert.ok(none.error !== undefined);
    assert.ok(joined(none).includes(lifecycle) && !joined(none).includes('one'));
    const late = await exchange(path, body('cut', 'one two three four after=999', true));
    assert.ok(late.error !== undefined, 'it breaks before its end at the latest');
    assert.ok(joined(late).includes('" four"') && !joined(late).includes('[DONE]'));
  });

  test(`${path}: declares more bytes than it sends for a cut whole response`, async () => {
    const { response, reads, error } = await exchange(path, body('cut', 'one two three four', false));
    const received = reads.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    assert.ok(error !== undefined);
    assert.ok(received > 0 && received < Number(response.headers.get('content-length')));
  });

  test(`stalls a stream after its lifecycle, or the requested number of tokens: ${path}`, async () => {
    for (const [content, expected] of [
      ['one two three four', 0],
      ['one two three four after=1', 1],
    ] as const) {
      const caller = new AbortController();
      const response = await call(path, body('stall', content, true), caller.signal);
      const reader = response.body?.getReader();
      let text = '';
      const wanted = expected === 0 ? lifecycle : token;
      while (!text.includes(wanted)) text += new TextDecoder().decode((await reader?.read())?.value);
      const more = reader?.read().then(
        () => 'more',
        () => 'hung up',
      );
      const silence = new Promise((resolve) => {
        setTimeout(resolve, 60, 'silence');
      });
      assert.equal(await Promise.race([more, silence]), 'silence');
      assert.equal(count(text, '"one"'), expected);
      assert.ok(!text.includes('two'));
      const noticed = occurrence(hangUps, content);
      caller.abort();
      await Promise.all([more, noticed]);
    }
  });

  for (const [name, model, content, stream] of [
    ['before the first token', 'slow', 'ms=60000', true],
    ['before a whole answer', 'slow', 'ms=60000', false],
    ['in the middle of a stream', 'long', 'tokens=9000 every=20', true],
    ['while the upstream is silent', 'stall', 'x', true],
    ['while not even headers have come', 'stall', 'x', false],
  ] as const) {
    test(`notices a caller that hangs up ${name} at once: ${path}`, async () => {
      const userText = `${content} ${path} ${name}`;
      const arrived = occurrence(arrivals, userText);
      const noticed = occurrence(hangUps, userText);
      const { hostname, port } = new URL(sandbox.baseUrl);
      const socket = connect(Number(port), hostname);
      const text = body(model, userText, stream);
      const head = `POST /v1${path} HTTP/1.1\r\nhost: x\r\nanthropic-version: 2023-06-01\r\n`;
      socket.write(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
      await (stream ? once(socket, 'data') : arrived);
      const hungUpMs = performance.now();
      socket.destroy();
      await noticed;
      assert.ok(performance.now() - hungUpMs < 10_000);
    });
  }
}

test('does not count a caller with the complete response as a hang-up', async () => {
  const countBefore = hangUpCount;
  for (const model of ['echo', 'cut', 'error-500', 'reasoning']) {
    await exchange('/chat/completions', body(model, 'one two', true));
    await exchange('/messages', body(model, 'one two', false));
  }
  assert.equal(hangUpCount, countBefore);
});

test('leaves no caller waiting when it stops', async () => {
  const arrived = Promise.withResolvers<void>();
  const own = await startSandbox({ host: '127.0.0.1', port: 0, onRequest: () => arrived.resolve() });
  const waiting = fetch(`${own.baseUrl}/chat/completions`, { method: 'POST', body: body('stall', 'x', false) });
  const rejected = assert.rejects(waiting);
  await arrived.promise;
  await own.close();
  await rejected;
});
