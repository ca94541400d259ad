import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createDownloader, DownloadError } from './download.ts';

const servers: Server[] = [];
const LIMITS = { bytesMax: 1_000, timeoutMs: 2_000 };
const never = new AbortController().signal;
const guarded = createDownloader({ protocols: ['http:', 'https:'] });
const open = createDownloader({ protocols: ['http:'], isAllowed: () => true });
after(async () => {
  await Promise.all([guarded.close(), open.close()]);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failsWith = (words: RegExp) => (error: unknown) => error instanceof DownloadError && words.test(error.message);

test('returns the bytes of a file and its media type', async () => {
  const url = await serve((_request, response) => {
    response.setHeader('content-type', 'Image/PNG; charset=binary');
    response.end(Buffer.from([1, 2, 3]));
  });
  const file = await open.download(`${url}/a.png`, LIMITS, never);
  assert.deepEqual([...file.bytes], [1, 2, 3]);
  assert.equal(file.mediaType, 'image/png');
});

test('fetches only https unless configured otherwise', async () => {
  const plain = createDownloader();
  for (const url of ['http://example.com/a', 'file:///etc/passwd', 'data:,x', 'no url', ''])
    await assert.rejects(plain.download(url, LIMITS, never), failsWith(/https|no URL/));
  await plain.close();
});

for (const host of [
  '127.0.0.1',
  'localhost',
  '[::1]',
  '169.254.169.254',
  '10.0.0.1',
  '2130706433',
  '0x7f.1',
  '[::ffff:7f00:1]',
])
  test(`does not call ${host}, which is not public`, async () => {
    let called = false;
    const { port } = new URL(
      await serve((_request, response) => {
        called = true;
        response.end();
      }),
    );
    await assert.rejects(guarded.download(`http://${host}:${port}/`, LIMITS, never), failsWith(/not on the public/));
    assert.ok(!called);
  });

test('does not follow a redirect to an address that is not public', async () => {
  const secret = await serve((_request, response) => response.end('secret'));
  let hops = 0;
  const start = await serve((_request, response) => {
    hops++;
    response.writeHead(302, { location: secret.replace('127.0.0.1', 'localhost') }).end();
  });
  const onlyStart = createDownloader({ protocols: ['http:'], isAllowed: () => hops === 0 });
  await assert.rejects(onlyStart.download(start, LIMITS, never), failsWith(/not on the public/));
  assert.equal(hops, 1);
  await onlyStart.close();
});

test('follows a bounded number of redirects', async () => {
  const end = await serve((_request, response) => response.end('here'));
  const start = await serve((_request, response) => response.writeHead(307, { location: `${end}/x` }).end());
  assert.equal((await open.download(start, LIMITS, never)).bytes.toString(), 'here');
  const circle = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
  await assert.rejects(open.download(circle, LIMITS, never), failsWith(/too often/));
});

test('refuses a file over the limit, declared or not', async () => {
  const declared = await serve((_request, response) => response.end(Buffer.alloc(1_001)));
  const streamed = await serve((_request, response) => {
    response.write(Buffer.alloc(600));
    setTimeout(() => response.end(Buffer.alloc(600)), 20);
  });
  for (const url of [declared, streamed])
    await assert.rejects(open.download(url, LIMITS, never), failsWith(/larger than 1000 bytes/));
});

test('refuses an encoded file and an empty one', async () => {
  const packed = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' });
    response.end(gzipSync(Buffer.alloc(100_000)));
  });
  await assert.rejects(open.download(packed, LIMITS, never), failsWith(/compressed/));
  const empty = await serve((_request, response) => response.end());
  await assert.rejects(open.download(empty, LIMITS, never), failsWith(/empty/));
});

test('ends a body that trickles or stalls at the time limit, with its connection', async () => {
  const closed: number[] = [];
  for (const pauseMs of [20, 60_000]) {
    const url = await serve((_request, response) => {
      response.write('x');
      const timer = setInterval(() => response.write('x'), pauseMs);
      response.on('close', () => {
        clearInterval(timer);
        closed.push(pauseMs);
      });
    });
    await assert.rejects(open.download(url, { ...LIMITS, timeoutMs: 150 }, never), failsWith(/too long/));
  }
  while (closed.length < 2) await setImmediate();
});

test('keeps threads of the resolver free while names never answer', async () => {
  const requested: string[] = [];
  const answers: (() => void)[] = [];
  const lookup = ((hostname: string, _options: object, callback: (error: Error | null, found: object[]) => void) => {
    requested.push(hostname);
    answers.push(() => callback(new Error('no such name'), []));
  }) as unknown as NonNullable<Parameters<typeof createDownloader>[0]>['lookup'];
  const slow = createDownloader({ protocols: ['http:'], ...(lookup && { lookup }) });
  const all = ['a', 'b', 'c'].map((name) => slow.download(`http://${name}.example/`, LIMITS, never));
  const settled = Promise.allSettled(all);
  while (requested.length < 2) await setImmediate();
  await wait(20);
  assert.deepEqual(requested, ['a.example', 'b.example']);
  answers[0]?.();
  while (requested.length < 3) await setImmediate();
  for (const answer of answers.slice(1)) answer();
  await settled;
  await slow.close();
});

test('distinguishes another status, silence and a refused connection', async () => {
  const missing = await serve((_request, response) => response.writeHead(404).end());
  await assert.rejects(open.download(missing, LIMITS, never), failsWith(/status 404/));
  const silent = await serve(() => undefined);
  await assert.rejects(open.download(silent, { ...LIMITS, timeoutMs: 50 }, never), failsWith(/too long/));
  await assert.rejects(open.download('http://127.0.0.1:1/', LIMITS, never), failsWith(/could not be reached/));
});

test('ends the download when its caller is gone', async () => {
  const caller = new AbortController();
  const silent = await serve(() => caller.abort());
  await assert.rejects(open.download(silent, LIMITS, caller.signal), DownloadError);
});
