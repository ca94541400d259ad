import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, suite, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { makePdf, makePdfOf } from '../../tests/support/files/make-pdf.ts';
import { createByteBudget } from '../lib/memory/byte-budget.ts';
import { DownloadError } from '../lib/net/download.ts';
import { MemoryLeases } from '../lib/memory/memory-leases.ts';
import { createHttpClient } from '../lib/net/http-client.ts';
import { createFileReader, type FileReaderDeps } from './file-reader.ts';
import { createTextMaker } from './text-maker.ts';

const http = createHttpClient();
const textMaker = createTextMaker({ memoryBytes: 1_073_741_824, processBytes: Infinity });
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

function reader(more: Partial<FileReaderDeps> = {}) {
  const ocr = { baseUrl, apiKey: 'key', model: 'mistral-ocr-latest' };
  return createFileReader({ http, textMaker, ocr, download: () => assert.fail('nothing is fetched'), ...more });
}

const neverAborted = (): AbortSignal => new AbortController().signal;
const PDF = makePdf([{ lines: ['one'] }, { lines: ['two'] }, { lines: ['three'] }]);
const FILE = { type: 'bytes', bytes: PDF } as const;

/** As docs.mistral.ai shows it. */
const page = (index: number, markdown: string, images: readonly string[] = []) => ({
  index,
  markdown,
  images: images.map((data, at) => ({ id: `img-${at}.jpeg`, top_left_x: 0, top_left_y: 0, image_base64: data })),
  dimensions: { dpi: 200, height: 2_200, width: 1_700 },
});

test('reads a PDF in the gateway, free of charge', async () => {
  assert.deepEqual(await reader().parse(FILE, 'cloudflare-ai', neverAborted()), {
    status: 'parsed',
    file: {
      pages: 3,
      parts: [{ type: 'text', text: '## Page 1\n\none\n\n## Page 2\n\ntwo\n\n## Page 3\n\nthree' }],
    },
    feeNanoUsd: 0,
  });
  assert.equal(await reader().quote(FILE, 'cloudflare-ai', neverAborted()), 0);
  assert.equal(seen.length, 0);
});

suite('the service reads', () => {
  // @spec plugin-10
  test('sends the bytes of a file, at 0.002 USD a page', async () => {
    answer = {
      status: 200,
      body: {
        pages: [page(0, '# One', ['data:image/jpeg;base64,AAAA']), page(1, ' '), page(2, 'three', ['BBBB'])],
        model: 'mistral-ocr-2512',
        usage_info: { pages_processed: 3, doc_size_bytes: PDF.length },
      },
    };
    const parsed = await reader().parse(FILE, 'mistral-ocr', neverAborted());
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
    assert.equal(await reader().quote(FILE, 'mistral-ocr', neverAborted()), 6_000_000);
  });

  test('sends a file of many megabytes unchanged', async () => {
    answer = { status: 200, body: { pages: [page(0, 'one')] } };
    // Stored, not packed: as many bytes as it says, and no multiple of three.
    const bytes = makePdfOf([deflateSync(Buffer.alloc(7_000_001, '% \n'), { level: 0 })]);
    const parsed = await reader().parse({ type: 'bytes', bytes }, 'mistral-ocr', neverAborted());
    assert.equal(parsed.status, 'parsed');
    const sent = String(Object(Object(seen[0]?.body).document).document_url).split(',')[1] ?? '';
    assert.ok(Buffer.from(sent, 'base64').equals(bytes) && bytes.length > 7_000_000);
  });

  test('lets the service fetch an address, with the maximum number of pages', async () => {
    answer = { status: 200, body: { pages: [page(0, 'one')], usage_info: { pages_processed: 1 } } };
    const source = { type: 'url', url: 'https://a.example/a.pdf' } as const;
    const parsed = await reader().parse(source, 'mistral-ocr', neverAborted());
    assert.deepEqual(Object(seen[0]?.body).document, { type: 'document_url', document_url: source.url });
    assert.equal(parsed.status === 'parsed' && parsed.file.pages, 1);
    assert.equal(await reader().quote(source, 'mistral-ocr', neverAborted()), 2_000_000_000);
  });

  test('sends no address outside the public web', async () => {
    for (const url of ['http://169.254.169.254/a.pdf', 'http://localhost/a.pdf', 'file:///srv/a.pdf']) {
      const parsed = await reader().parse({ type: 'url', url }, 'mistral-ocr', neverAborted());
      assert.deepEqual([parsed.status, seen.length], ['failed', 0], url);
    }
  });

  test('returns at most eight images', async () => {
    const pages = Array.from({ length: 4 }, (_, index) => page(index, 'x', ['A', 'B', 'C']));
    answer = { status: 200, body: { pages, usage_info: { pages_processed: 4 } } };
    const parsed = await reader().parse(FILE, 'mistral-ocr', neverAborted());
    assert.ok(parsed.status === 'parsed');
    assert.equal(parsed.file.parts.filter(({ type }) => type === 'image').length, 8);
  });

  test('reports its failures without account details', async () => {
    const faults: unknown[] = [];
    for (const status of [400, 401, 422, 429, 500]) {
      answer = { status, body: { message: 'a secret' } };
      const failed = await reader().parse(FILE, 'mistral-ocr', neverAborted());
      assert.ok(failed.status === 'failed' && !failed.message.includes('secret'));
      faults.push(failed.fault);
    }
    assert.deepEqual(faults, ['caller', 'service', 'caller', 'service', 'service']);
    answer = { status: 200, body: { nothing: true } };
    const strange = await reader().parse(FILE, 'mistral-ocr', neverAborted());
    assert.equal(strange.status === 'failed' && strange.fault, 'service');
  });

  test('is available only when it is configured', async () => {
    const files = reader({ ocr: undefined });
    assert.deepEqual([files.has('mistral-ocr'), files.has('cloudflare-ai')], [false, true]);
    assert.equal((await files.parse(FILE, 'mistral-ocr', neverAborted())).status, 'failed');
  });
});

// @spec plugin-13
test('blames the caller for a file that is not a PDF, too large or too long', async () => {
  const many = makePdf(Array.from({ length: 1_001 }, () => ({ lines: [] })));
  const large = Buffer.alloc(50 * 1_024 * 1_024 + 1);
  for (const bytes of [Buffer.from('nonsense'), many, large])
    for (const engine of ['cloudflare-ai', 'mistral-ocr'] as const) {
      if (bytes.length < 100 && engine === 'mistral-ocr') continue;
      const failed = await reader().parse({ type: 'bytes', bytes }, engine, neverAborted());
      assert.equal(failed.status === 'failed' && failed.fault, 'caller', engine);
    }
  assert.equal(seen.length, 0, 'the service is not asked for what is refused');
});

// @spec media-2
test('fetches a file within its limits, or reports why not', async () => {
  const limits: unknown[] = [];
  const fetching = reader({
    download(url, limit) {
      limits.push(limit);
      if (url.endsWith('none')) throw new DownloadError('The address answered with status 404.');
      return Promise.resolve({ bytes: PDF });
    },
  });
  assert.deepEqual(await fetching.fetch('https://a.example/a.pdf', neverAborted()), FILE);
  assert.deepEqual(limits, [{ bytesMax: 52_428_800, timeoutMs: 30_000 }]);
  assert.deepEqual(await fetching.fetch('https://a.example/none', neverAborted()), {
    status: 'failed',
    fault: 'caller',
    message: 'The address answered with status 404.',
  });
});

test('holds what the service answers until the request is over, and refuses what finds no memory', async () => {
  answer = { status: 200, body: { pages: [page(0, 'one')], usage_info: { pages_processed: 1 } } };
  const memory = createByteBudget({ bytesMax: 300_000, waitMs: 5, waitingMax: 1 });
  const held = new MemoryLeases();
  const parsed = await reader({ memory }).parse(FILE, 'mistral-ocr', neverAborted(), held);
  assert.equal(parsed.status, 'parsed');
  assert.ok(memory.taken > 0);
  const refused = await reader({ memory: createByteBudget({ bytesMax: 1_000, waitMs: 5, waitingMax: 1 }) }).parse(
    FILE,
    'mistral-ocr',
    neverAborted(),
  );
  assert.ok(refused.status === 'failed');
  assert.equal(refused.fault, 'memory');
  held.close();
  assert.equal(memory.taken, 0);
});
