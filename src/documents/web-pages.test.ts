import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { makePdf } from '../../tests/support/files/make-pdf.ts';
import type { WebPageOutcome, WebPageQuery } from '../canonical/tools/web-page.ts';
import { VaultError } from '../canonical/vault-reference.ts';
import { createByteBudget } from '../lib/memory/byte-budget.ts';
import { createDownloader } from '../lib/net/download.ts';
import { isPublicAddress, isPublicOrOwnAddress } from '../lib/net/public-address.ts';
import { createTextMaker } from './text-maker.ts';
import { createWebPages, type WebPagesDeps } from './web-pages.ts';

const textMaker = createTextMaker({ memoryBytes: 1_073_741_824, processBytes: Infinity });
const guarded = createDownloader({ protocols: ['http:', 'https:'], isAllowed: isPublicAddress });
const own = createDownloader({ protocols: ['http:', 'https:'], isAllowed: isPublicOrOwnAddress });
let server: Server;
let site = '';
const visited: string[] = [];

const NO_VENDORS: WebPagesDeps['vendors'] = {
  has: () => false,
  feeOf: () => 0,
  read: () => assert.fail('calls no vendor'),
};

const TYPES: Readonly<Record<string, readonly [type: string | undefined, body: string | Buffer]>> = {
  '/page': ['text/html; charset=utf-8', '<title>T</title><body><p>words</p></body>'],
  '/latin': ['text/html; charset="ISO-8859-1"', Buffer.from('<body>caf\xe9</body>', 'latin1')],
  '/plain': ['text/plain', 'plain words'],
  '/json': ['application/json', '{"a": 1}'],
  '/feed': ['application/rss+xml', '<rss/>'],
  '/pdf': ['application/pdf', makePdf([{ lines: ['in a file'] }], 'A file')],
  '/nameless-pdf': ['application/octet-stream', makePdf([{ lines: ['in a file'] }])],
  '/nameless-page': [undefined, '<!doctype html><title>T</title>words'],
  '/nameless-text': [undefined, 'words'],
  '/nameless-bytes': [undefined, Buffer.from([0, 1, 2])],
  '/picture': ['image/png', Buffer.from([0x89, 0x50])],
  '/broken-pdf': ['application/pdf', 'no pdf'],
  '/long': ['text/plain', 'word '.repeat(60_000)],
};

const serve: RequestListener = (request, response) => {
  const path = request.url ?? '';
  visited.push(path);
  const [type, body] = TYPES[path] ?? [];
  if (body !== undefined) response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(body);
  else if (path === '/large')
    response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.alloc(11_000_000, 'x'));
  else if (path.startsWith('/to?')) response.writeHead(302, { location: path.slice(4) }).end();
  else if (path === '/circle') response.writeHead(302, { location: '/circle' }).end();
  else response.writeHead(404).end('nothing here');
};

before(async () => {
  server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  await Promise.all([textMaker.close(), guarded.close(), own.close()]);
  server.closeAllConnections();
  server.close();
});

function read(
  query: Partial<WebPageQuery> & { url: string },
  deps: Partial<WebPagesDeps> = {},
): Promise<WebPageOutcome> {
  const pages = createWebPages({
    download: own.download,
    textMaker,
    memory: createByteBudget({ bytesMax: 64 * 1_048_576, waitMs: 5, waitingMax: 1 }),
    vendors: NO_VENDORS,
    nowMs: () => Date.UTC(2026, 10, 21),
    ...deps,
  });
  return pages.read({ engine: 'service', ...query }, new AbortController().signal);
}

async function contentOf(path: string): Promise<unknown> {
  const page = await read({ url: site + path });
  return page.status === 'completed' ? [page.title, page.content] : page.reason;
}

// @spec web-22
test('returns a page with its address and time, free of charge', async () => {
  assert.deepEqual(await read({ url: `${site}/to?/page` }), {
    status: 'completed',
    url: `${site}/page`,
    title: 'T',
    content: 'words',
    isCut: false,
    retrievedAt: '2026-11-21T00:00:00.000Z',
    feeNanoUsd: 0,
  });
});

// @spec web-23
test('reads pages, PDFs and texts by their type or their beginning, and nothing else', async () => {
  assert.deepEqual(await contentOf('/latin'), [`${site}/latin`, 'café']);
  assert.deepEqual(await contentOf('/plain'), [`${site}/plain`, 'plain words']);
  assert.deepEqual(await contentOf('/json'), [`${site}/json`, '{"a": 1}']);
  assert.deepEqual(await contentOf('/feed'), [`${site}/feed`, '<rss/>']);
  assert.deepEqual(await contentOf('/pdf'), ['A file', '## Page 1\n\nin a file']);
  assert.deepEqual(await contentOf('/nameless-pdf'), [`${site}/nameless-pdf`, '## Page 1\n\nin a file']);
  assert.deepEqual(await contentOf('/nameless-page'), ['T', 'words']);
  assert.deepEqual(await contentOf('/nameless-text'), [`${site}/nameless-text`, 'words']);
  assert.equal(await contentOf('/nameless-bytes'), 'unsupported_content_type');
  assert.equal(await contentOf('/picture'), 'unsupported_content_type');
  assert.equal(await contentOf('/broken-pdf'), 'unsupported_content_type');
});

test('cuts a text to the requested length, by default to what fits a context', async () => {
  const requested = await read({ url: `${site}/long`, contentTokensMax: 10 });
  assert.deepEqual(requested.status === 'completed' && [requested.content.length <= 40, requested.isCut], [true, true]);
  const usual = await read({ url: `${site}/long` });
  assert.deepEqual(usual.status === 'completed' && [usual.content.length <= 100_000, usual.isCut], [true, true]);
});

suite('what is not fetched', () => {
  const REFUSED: readonly (readonly [url: string, reason: string])[] = [
    ['no address', 'invalid_tool_input'],
    [`https://a.example/${'x'.repeat(2_048)}`, 'url_too_long'],
    ['file:///etc/passwd', 'url_not_allowed'],
    ['ftp://a.example/', 'url_not_allowed'],
    ['http://127.0.0.1/', 'url_not_allowed'],
    ['http://localhost/', 'url_not_allowed'],
    ['http://10.0.0.1/', 'url_not_allowed'],
    ['http://169.254.169.254/latest/meta-data/', 'url_not_allowed'],
    ['http://[::1]/', 'url_not_allowed'],
    ['http://[::ffff:127.0.0.1]/', 'url_not_allowed'],
    ['http://[fe80::1]/', 'url_not_allowed'],
    ['http://2130706433/', 'url_not_allowed'],
    ['http://0x7f.1/', 'url_not_allowed'],
  ];
  for (const [url, reason] of REFUSED)
    test(url.slice(0, 60), async () => {
      const page = await read({ url }, { download: guarded.download });
      assert.ok(page.status === 'failed');
      assert.equal(page.reason, reason);
    });

  // @spec media-1, web-23
  test('refuses a page that redirects to a private address', async () => {
    for (const target of ['http://169.254.169.254/latest', 'file:///etc/passwd', 'http://[fe80::1]/']) {
      const page = await read({ url: `${site}/to?${target}` });
      assert.deepEqual(page.status === 'failed' && page.reason, 'url_not_allowed', target);
    }
  });

  // @spec web-23
  test('reports a page that is missing, too large, or behind too many redirects', async () => {
    for (const path of ['/circle', '/large', '/nothing']) {
      const page = await read({ url: site + path });
      assert.deepEqual(page.status === 'failed' && page.reason, 'url_not_accessible', path);
    }
  });

  test('refuses domains that the caller excludes, also after a redirect', async () => {
    visited.length = 0;
    const here = ['127.0.0.1'];
    const blocked = await read({ url: `${site}/page`, blockedSites: here });
    const elsewhere = await read({ url: `${site}/page`, allowedSites: ['a.example'] });
    const led = await read({ url: `${site}/to?/page`, allowedSites: ['127.0.0.1/to'] });
    const port = site.split(':').at(-1);
    const around = await read({ url: `http://localhost:${port}/to?${site}/page`, blockedSites: here });
    for (const page of [blocked, elsewhere, led, around])
      assert.deepEqual(page.status === 'failed' && page.reason, 'url_not_allowed');
    assert.deepEqual(visited, ['/to?/page', `/to?${site}/page`], 'what is ruled out is not visited');
    const allowed = await read({ url: `${site}/page`, allowedSites: here });
    assert.equal(allowed.status, 'completed');
  });
});

test('reads through a vendor within the same rules', async () => {
  const requested: unknown[] = [];
  const vendors: WebPagesDeps['vendors'] = {
    has: (engine) => engine === 'exa',
    feeOf: () => 1_000_000,
    read(engine, url, charsMax) {
      requested.push([engine, url, charsMax]);
      return Promise.resolve({
        status: 'completed',
        url: 'https://b.example/',
        title: 'T',
        content: 'words',
        isCut: false,
        retrievedAt: '2026-11-21T00:00:00.000Z',
        feeNanoUsd: 1_000_000,
      });
    },
  };
  const query = { url: 'https://a.example/', engine: 'exa', contentTokensMax: 100 } as const;
  assert.equal((await read(query, { vendors })).status, 'completed');
  assert.deepEqual(requested, [['exa', 'https://a.example/', 400]]);
  const led = await read({ ...query, blockedSites: ['b.example'] }, { vendors });
  const blocked = await read({ ...query, allowedSites: ['c.example'] }, { vendors });
  assert.deepEqual([led.status, blocked.status, requested.length], ['failed', 'failed', 2]);
  assert.equal((await read({ url: 'file:///etc/passwd', engine: 'exa' }, { vendors })).status, 'failed');
  requested.length = 0;
  for (const url of [
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://redis:6379/',
    'http://2130706433',
  ])
    assert.deepEqual(await read({ url, engine: 'exa' }, { vendors }), {
      status: 'failed',
      reason: 'url_not_allowed',
      message: 'The address is not among those that may be visited.',
    });
  assert.deepEqual(requested, [], 'a vendor may run beside the gateway');
});

test('fetches pages within the memory that all of them share, and gives it back', async () => {
  const memory = createByteBudget({ bytesMax: 16_384, waitMs: 5, waitingMax: 1 });
  const download: WebPagesDeps['download'] = async (url, limits) => {
    await limits.memory?.hold(10_000);
    return { url, mediaType: 'text/plain', bytes: Buffer.from('hello') };
  };
  const page = await read({ url: 'https://example.com/' }, { download, memory });
  assert.equal(page.status, 'completed');
  assert.equal(memory.taken, 0);
  await memory.take(16_384, new AbortController().signal);
  const refused = await read({ url: 'https://example.com/' }, { download, memory });
  assert.ok(refused.status === 'failed');
  assert.equal(refused.reason, 'too_many_requests');
  assert.equal(memory.taken, 16_384);
});

suite('headers that the operator has pages fetched with', () => {
  const VALUE = 'a-secret-of-the-vault';
  const seen: (string | undefined)[] = [];
  let echo: Server;
  let other: Server;
  const addressOf = (one: Server): string => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;

  before(async () => {
    const listen = (handler: RequestListener) =>
      new Promise<Server>((resolve) => {
        const one = createServer((request, response) => {
          seen.push(request.headers['x-token']?.toString());
          handler(request, response);
        });
        one.listen(0, '127.0.0.1', () => resolve(one));
      });
    other = await listen((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('there'),
    );
    echo = await listen((request, response) => {
      if (request.url === '/to') response.writeHead(302, { location: `${addressOf(other)}/` }).end();
      else
        response
          .writeHead(200, { 'content-type': 'text/plain' })
          .end(`it was ${request.headers['x-token']?.toString()}, ${Buffer.from(VALUE).toString('base64')}`);
    });
  });
  after(() => [echo, other].forEach((one) => one.close()));

  const readWith = (path: string, credentialsFor: WebPagesDeps['credentialsFor']) => {
    seen.length = 0;
    const memory = createByteBudget({ bytesMax: 1_073_741_824, waitMs: 1, waitingMax: 1 });
    const deps = { download: own.download, textMaker, memory, vendors: NO_VENDORS, nowMs: () => 0 };
    return createWebPages({ ...deps, ...(credentialsFor !== undefined && { credentialsFor }) }).read(
      { url: addressOf(echo) + path, engine: 'service' },
      new AbortController().signal,
    );
  };
  const withToken = () => Promise.resolve({ headers: { 'x-token': VALUE }, secrets: [VALUE] });

  // @spec vault-19, vault-20
  test('reach their host, and what it repeats of them is hidden', async () => {
    const page = await readWith('/', withToken);
    assert.deepEqual(seen, [VALUE]);
    assert.partialDeepStrictEqual(page, { status: 'completed', content: 'it was [secret], [secret]' });
  });

  // @spec vault-20
  test('follow no redirect to another host', async () => {
    assert.partialDeepStrictEqual(await readWith('/to', withToken), { status: 'completed', content: 'there' });
    assert.deepEqual(seen, [VALUE, undefined]);
  });

  // @spec vault-20
  test('fail the page where a secret is not released, and say nothing of it', async () => {
    const page = await readWith('/', () =>
      Promise.reject(new VaultError('credential_missing', 'There is no secret "x".')),
    );
    assert.partialDeepStrictEqual(page, { status: 'failed', reason: 'url_not_accessible' });
    assert.ok(!JSON.stringify(page).includes('"x"'));
    assert.deepEqual(seen, []);
  });
});
