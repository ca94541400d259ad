import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, suite, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { makePdf, makePdfOf } from '../../tests/support/make-pdf.ts';
import { DownloadError } from '../lib/download.ts';
import { createHttpClient } from '../lib/http-client.ts';
import { createFileReader, type FileReaderParts } from './file-reader.ts';
import { createTextMaker } from './text-maker.ts';

const http = createHttpClient();
const textMaker = createTextMaker();
let server: Server;
let baseUrl = '';
let answer: { status: number; body: unknown } = { status: 200, body: {} };
let seen: { path: string; key: string | undefined; body: unknown }[] = [];

before(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      seen.push({ path: request.url ?? '', key: request.headers.authorization, body });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

after(async () => {
  await Promise.all([http.close(), textMaker.close()]);
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  seen = [];
});

function reader(more: Partial<FileReaderParts> = {}) {
  const ocr = { baseUrl, apiKey: 'key', model: 'mistral-ocr-latest' };
  return createFileReader({ http, textMaker, ocr, download: () => assert.fail('nothing is fetched'), ...more });
}

const nobody = (): AbortSignal => new AbortController().signal;
const PDF = makePdf([{ lines: ['one'] }, { lines: ['two'] }, { lines: ['three'] }]);
const FILE = { type: 'bytes', bytes: PDF } as const;

/** As docs.mistral.ai shows it. */
const page = (index: number, markdown: string, images: readonly string[] = []) => ({
  index,
  markdown,
  images: images.map((data, at) => ({ id: `img-${at}.jpeg`, top_left_x: 0, top_left_y: 0, image_base64: data })),
  dimensions: { dpi: 200, height: 2_200, width: 1_700 },
});

test('a PDF is read here, and costs nothing', async () => {
  assert.deepEqual(await reader().parse(FILE, 'cloudflare-ai', nobody()), {
    status: 'parsed',
    file: {
      pages: 3,
      parts: [{ type: 'text', text: '## Page 1\n\none\n\n## Page 2\n\ntwo\n\n## Page 3\n\nthree' }],
    },
    feeNanoUsd: 0,
  });
  assert.equal(await reader().quote(FILE, 'cloudflare-ai', nobody()), 0);
  assert.equal(seen.length, 0);
});

suite('the service reads', () => {
  test('the bytes of a file, at 0.002 USD a page', async () => {
    answer = {
      status: 200,
      body: {
        pages: [page(0, '# One', ['data:image/jpeg;base64,AAAA']), page(1, ' '), page(2, 'three', ['BBBB'])],
        model: 'mistral-ocr-2512',
        usage_info: { pages_processed: 3, doc_size_bytes: PDF.length },
      },
    };
    const parsed = await reader().parse(FILE, 'mistral-ocr', nobody());
    assert.deepEqual(seen, [
      {
        path: '/v1/ocr',
        key: 'Bearer key',
        body: {
          model: 'mistral-ocr-latest',
          document: { type: 'document_url', document_url: `data:application/pdf;base64,${PDF.toString('base64')}` },
          include_image_base64: true,
          image_limit: 8,
        },
      },
    ]);
    assert.deepEqual(parsed, {
      status: 'parsed',
      file: {
        pages: 3,
        parts: [
          { type: 'text', text: '## Page 1\n\n# One\n\n## Page 3\n\nthree' },
          { type: 'image', url: 'data:image/jpeg;base64,AAAA' },
          { type: 'image', url: 'data:image/jpeg;base64,BBBB' },
        ],
      },
      feeNanoUsd: 6_000_000,
    });
    assert.equal(await reader().quote(FILE, 'mistral-ocr', nobody()), 6_000_000);
  });

  test('a file of many megabytes, which arrives as it is', async () => {
    answer = { status: 200, body: { pages: [page(0, 'one')] } };
    // Stored, not packed: as many bytes as it says, and no multiple of three.
    const bytes = makePdfOf([deflateSync(Buffer.alloc(7_000_001, '% \n'), { level: 0 })]);
    const parsed = await reader().parse({ type: 'bytes', bytes }, 'mistral-ocr', nobody());
    assert.equal(parsed.status, 'parsed');
    const sent = String(Object(Object(seen[0]?.body).document).document_url).split(',')[1] ?? '';
    assert.ok(Buffer.from(sent, 'base64').equals(bytes) && bytes.length > 7_000_000);
  });

  test('a file at an address by itself, which may have all the pages that are read', async () => {
    answer = { status: 200, body: { pages: [page(0, 'one')], usage_info: { pages_processed: 1 } } };
    const source = { type: 'url', url: 'https://a.example/a.pdf' } as const;
    const parsed = await reader().parse(source, 'mistral-ocr', nobody());
    assert.deepEqual(Object(seen[0]?.body).document, { type: 'document_url', document_url: source.url });
    assert.equal(parsed.status === 'parsed' && parsed.file.pages, 1);
    assert.equal(await reader().quote(source, 'mistral-ocr', nobody()), 2_000_000_000);
  });

  test('but no address that is plainly none of the web', async () => {
    for (const url of ['http://169.254.169.254/a.pdf', 'http://localhost/a.pdf', 'file:///srv/a.pdf']) {
      const parsed = await reader().parse({ type: 'url', url }, 'mistral-ocr', nobody());
      assert.deepEqual([parsed.status, seen.length], ['failed', 0], url);
    }
  });

  test('no more than eight pictures', async () => {
    const pages = Array.from({ length: 4 }, (_, index) => page(index, 'x', ['A', 'B', 'C']));
    answer = { status: 200, body: { pages, usage_info: { pages_processed: 4 } } };
    const parsed = await reader().parse(FILE, 'mistral-ocr', nobody());
    assert.ok(parsed.status === 'parsed');
    assert.equal(parsed.file.parts.filter(({ type }) => type === 'image').length, 8);
  });

  test('and its failures are told, without what it says of the account', async () => {
    const faults: unknown[] = [];
    for (const status of [400, 401, 422, 429, 500]) {
      answer = { status, body: { message: 'a secret' } };
      const failed = await reader().parse(FILE, 'mistral-ocr', nobody());
      assert.ok(failed.status === 'failed' && !failed.message.includes('secret'));
      faults.push(failed.fault);
    }
    assert.deepEqual(faults, ['caller', 'service', 'caller', 'service', 'service']);
    answer = { status: 200, body: { nothing: true } };
    const strange = await reader().parse(FILE, 'mistral-ocr', nobody());
    assert.equal(strange.status === 'failed' && strange.fault, 'service');
  });

  test('only where it is set up', async () => {
    const files = reader({ ocr: undefined });
    assert.deepEqual([files.has('mistral-ocr'), files.has('cloudflare-ai')], [false, true]);
    assert.equal((await files.parse(FILE, 'mistral-ocr', nobody())).status, 'failed');
  });
});

test('what is no PDF, is too large or has too many pages is the caller’s fault', async () => {
  const many = makePdf(Array.from({ length: 1_001 }, () => ({ lines: [] })));
  const large = Buffer.alloc(50 * 1_024 * 1_024 + 1);
  for (const bytes of [Buffer.from('nonsense'), many, large])
    for (const engine of ['cloudflare-ai', 'mistral-ocr'] as const) {
      if (bytes.length < 100 && engine === 'mistral-ocr') continue;
      const failed = await reader().parse({ type: 'bytes', bytes }, engine, nobody());
      assert.equal(failed.status === 'failed' && failed.fault, 'caller', engine);
    }
  assert.equal(seen.length, 0, 'the service is not asked for what is refused');
});

test('a file is fetched within its limits, or it is told why not', async () => {
  const limits: unknown[] = [];
  const fetching = reader({
    download(url, limit) {
      limits.push(limit);
      if (url.endsWith('none')) throw new DownloadError('The address answered with status 404.');
      return Promise.resolve({ bytes: PDF });
    },
  });
  assert.deepEqual(await fetching.fetch('https://a.example/a.pdf', nobody()), FILE);
  assert.deepEqual(limits, [{ bytesMax: 52_428_800, timeoutMs: 30_000 }]);
  assert.deepEqual(await fetching.fetch('https://a.example/none', nobody()), {
    status: 'failed',
    fault: 'caller',
    message: 'The address answered with status 404.',
  });
});
