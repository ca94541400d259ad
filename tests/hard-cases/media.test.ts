import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import {
  CALLERS,
  PATHS,
  shareAllUpstreams,
  startAllUpstreams,
  type UpstreamName,
} from '../support/upstreams/all-upstreams.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { emit } from '../support/upstreams/speak.ts';
import { json } from '../support/upstream.ts';

const PDF_BASE64 = Buffer.from('%PDF-1.4 of nothing').toString('base64');
const WAV_BASE64 = Buffer.from('RIFF of nothing').toString('base64');
const IMAGE_BYTES_MAX = 20 * 1_024 * 1_024;
/** So that what went over the wire was served, not invented. */
const FILES: Readonly<Record<string, readonly [type: string, bytes: Buffer]>> = {
  '/pixel.png': ['image/png', Buffer.from(PNG_BASE64, 'base64')],
  '/page.pdf': ['application/pdf', Buffer.from(PDF_BASE64, 'base64')],
  '/huge.png': ['image/png', Buffer.alloc(IMAGE_BYTES_MAX + 1)],
};

let files: Server;
let requested: string[] = [];
let filesUrl = '';

before(async () => {
  files = createServer((request, response) => {
    requested.push(request.url ?? '');
    const [type, bytes] = FILES[request.url ?? ''] ?? [];
    // Without a length: what is too large must be noticed on the way.
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type }).end(bytes);
  });
  files.listen(0, '127.0.0.1');
  await once(files, 'listening');
  filesUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
});
after(() => {
  files.closeAllConnections();
  files.close();
});

const shared = shareAllUpstreams({
  downloads: { isAllowed: () => true, protocols: ['http:', 'https:'] },
  models: {
    'acme/blind-first': {
      endpoints: [
        { provider: 'gemini', model: 'gemini-3-pro-preview' },
        { provider: 'claude', model: 'claude-sonnet-4-6' },
      ],
    },
    'acme/deaf-first': {
      endpoints: [
        { provider: 'claude', model: 'claude-sonnet-4-6' },
        { provider: 'gemini', model: 'gemini-3-pro-preview' },
      ],
    },
  },
});

type Address = string;

function withImage(caller: ChatOrMessages, url: Address): JsonObject {
  const data = /^data:([^;]+);base64,(.*)$/.exec(url);
  const source = data === null ? { type: 'url', url } : { type: 'base64', media_type: data[1], data: data[2] };
  const part = caller === 'chat' ? { type: 'image_url', image_url: { url } } : { type: 'image', source };
  return {
    max_tokens: 100,
    messages: [{ role: 'user', content: [part, { type: 'text', text: 'What?' }] }],
  };
}

function withPdf(caller: ChatOrMessages, url: Address): JsonObject {
  const data = /^data:([^;]+);base64,(.*)$/.exec(url);
  const source = data === null ? { type: 'url', url } : { type: 'base64', media_type: data[1], data: data[2] };
  const part =
    caller === 'chat'
      ? { type: 'file', file: { filename: 'page.pdf', file_data: url } }
      : { type: 'document', title: 'page.pdf', source };
  return {
    max_tokens: 100,
    messages: [{ role: 'user', content: [part, { type: 'text', text: 'What?' }] }],
  };
}

const PDF_DATA_URL = `data:application/pdf;base64,${PDF_BASE64}`;
/** What opens addresses by itself. */
const OPENS: readonly UpstreamName[] = ['chat', 'openai', 'claude', 'messages-plain', 'responses', 'cohere'];
const FETCHED: readonly UpstreamName[] = ['gemini', 'converse', 'nova'];

suite('an image', () => {
  for (const caller of CALLERS) {
    for (const name of OPENS)
      // @spec translate-13
      test(`is fetched from its address by ${name}: ${caller} caller`, async () => {
        const { ask } = shared();
        requested = [];
        const { arrived } = await ask(caller, name, withImage(caller, `${filesUrl}/pixel.png`));
        assert.ok(arrived.text.includes(`"${filesUrl}/pixel.png"`));
        assert.deepEqual(requested, []);
      });

    for (const name of FETCHED)
      // @spec translate-13
      test(`is fetched from its address for ${name}: ${caller} caller`, async () => {
        const { ask } = shared();
        requested = [];
        const body = withImage(caller, `${filesUrl}/pixel.png`);
        const [first] = body['messages'] as readonly JsonObject[];
        // Twice in one request, and fetched once.
        const twice = { ...body, messages: [first, { role: 'assistant', content: 'A pixel.' }, first] };
        const { arrived } = await ask(caller, name, twice as JsonObject);
        assert.equal(arrived.text.split(PNG_BASE64).length - 1, 2);
        assert.ok(!arrived.text.includes(filesUrl));
        assert.deepEqual(requested, ['/pixel.png']);
      });

    for (const name of [...OPENS, ...FETCHED])
      test(`is sent as data to ${name}: ${caller} caller`, async () => {
        const { ask } = shared();
        const { arrived } = await ask(caller, name, withImage(caller, PNG_DATA_URL));
        assert.equal(arrived.text.split(PNG_BASE64).length - 1, 1);
      });

    // @spec media-4
    test(`is a 400 when it cannot be fetched, and nothing is sent: ${caller} caller`, async () => {
      const { gateway, upstream } = shared();
      for (const path of ['/missing.png', '/huge.png']) {
        upstream.arrived.length = 0;
        const body = { model: 'acme/gemini', ...withImage(caller, `${filesUrl}${path}`) };
        const response = await gateway.post(PATHS[caller], body);
        const text = await response.text();
        assert.equal(response.status, 400, text);
        assert.match(text, /"error_type":"image_download_failed"/);
        assert.equal(upstream.arrived.length, 0);
      }
    });

    // @spec media-5
    test(`is left to an endpoint that fetches addresses when it cannot be fetched: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = emit('A pixel.');
      const { arrived, reported } = await ask(caller, 'acme/blind-first', withImage(caller, `${filesUrl}/huge.png`));
      assert.equal(reported.text, 'A pixel.');
      assert.match(arrived.path, /\/claude\//);
    });

    test(`is reported in the vendor's words when it is too large: ${caller} caller`, async () => {
      const { gateway, upstream } = shared();
      const message =
        'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes';
      upstream.script = json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
      const response = await gateway.post(PATHS[caller], { model: 'acme/claude', ...withImage(caller, PNG_DATA_URL) });
      const text = await response.text();
      assert.equal(response.status, 400);
      assert.ok(text.includes('image exceeds 5 MB maximum') && text.includes('"error_type":"image_too_large"'), text);
      upstream.script = emit('Done.');
    });
  }

  // @spec media-1, media-3
  test('is not fetched from a private network, whatever its name', async (t) => {
    const { gateway, upstream } = await startAllUpstreams(t);
    requested = [];
    for (const url of [
      `${filesUrl}/pixel.png`,
      'https://127.0.0.1/x.png',
      'https://169.254.169.254/latest/meta-data',
    ]) {
      const response = await gateway.post(PATHS.chat, { model: 'acme/gemini', ...withImage('chat', url) });
      assert.equal(response.status, 400);
      await response.body?.cancel();
    }
    assert.deepEqual([requested, upstream.arrived], [[], []]);
  });
});

suite('a PDF', () => {
  const NATIVE: readonly UpstreamName[] = [
    'chat',
    'openai',
    'claude',
    'messages-plain',
    'gemini',
    'responses',
    'converse',
    'nova',
  ];
  for (const caller of CALLERS) {
    for (const name of NATIVE)
      // @spec translate-14
      test(`is read by ${name} itself: ${caller} caller`, async () => {
        const { ask } = shared();
        const { arrived } = await ask(caller, name, withPdf(caller, PDF_DATA_URL));
        assert.ok(arrived.text.includes(PDF_BASE64));
      });

    for (const [name, isFetched] of [
      ['claude', false],
      ['responses', false],
      ['openrouter', false],
      ['chat', true],
      ['gemini', true],
      ['converse', true],
    ] as const)
      test(`is ${isFetched ? 'fetched for' : 'fetched by'} ${name} from its address: ${caller} caller`, async () => {
        const { ask } = shared();
        requested = [];
        const { arrived } = await ask(caller, name, withPdf(caller, `${filesUrl}/page.pdf`));
        assert.deepEqual(requested, isFetched ? ['/page.pdf'] : []);
        assert.equal(arrived.text.includes(PDF_BASE64), isFetched);
        assert.equal(arrived.text.includes(`${filesUrl}/page.pdf`), !isFetched);
      });

    test(`excludes endpoints whose format cannot carry it; a text file is always readable: ${caller} caller`, async () => {
      const { ask } = shared();
      await assert.rejects(ask(caller, 'cohere', withPdf(caller, PDF_DATA_URL)), /404.*input_modalities \(file\)/);
      const words = 'Words in a file.';
      const dataUrl = `data:text/plain;base64,${Buffer.from(words).toString('base64')}`;
      const part =
        caller === 'chat'
          ? { type: 'file', file: { filename: 'words.txt', file_data: dataUrl } }
          : { type: 'document', source: { type: 'text', media_type: 'text/plain', data: words } };
      const body = { max_tokens: 100, messages: [{ role: 'user', content: [part, { type: 'text', text: 'What?' }] }] };
      const { arrived } = await ask(caller, 'cohere', body);
      assert.ok(arrived.text.includes('Words in a file.'));
    });
  }
});

suite('audio', () => {
  const body = {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'input_audio', input_audio: { data: WAV_BASE64, format: 'wav' } },
          { type: 'text', text: 'What?' },
        ],
      },
    ],
  };
  for (const name of ['chat', 'gemini', 'responses'] as const)
    test(`is sent to ${name}`, async () => {
      const { ask } = shared();
      const { arrived } = await ask('chat', name, body);
      assert.ok(arrived.text.includes(WAV_BASE64));
      if (name === 'gemini') assert.ok(arrived.text.includes('"mimeType":"audio/wav"'));
    });

  test('excludes endpoints whose format has no audio', async () => {
    const { ask } = shared();
    const { arrived } = await ask('chat', 'acme/deaf-first', body);
    assert.match(arrived.path, /\/gemini\//);
  });

  for (const name of ['claude', 'converse', 'cohere'] as const)
    test(`is 404 when only ${name} could serve, which has no audio input`, async () => {
      const { gateway, upstream } = shared();
      upstream.arrived.length = 0;
      const response = await gateway.post(PATHS.chat, { model: `acme/${name}`, ...body });
      const text = await response.text();
      assert.equal(response.status, 404, text);
      assert.match(text, /audio/);
      assert.equal(upstream.arrived.length, 0);
    });
});

suite('an image in later instructions of a messages caller', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } };
  const request = {
    max_tokens: 99,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'system', content: [{ type: 'text', text: 'Like this:' }, image] },
      { role: 'user', content: 'Go on' },
    ],
  };

  for (const name of ['claude', 'messages-plain', 'gemini', 'converse'] as const satisfies readonly UpstreamName[])
    test(`is sent in its place: ${name}`, async () => {
      const { ask } = shared();
      const { arrived, warnings } = await ask('messages', name, request);
      assert.ok(arrived.text.includes(PNG_BASE64));
      assert.deepEqual(warnings, []);
    });

  for (const name of ['openai', 'responses', 'cohere'] as const satisfies readonly UpstreamName[])
    test(`is 400 at its place where instructions are text only: ${name}`, async () => {
      const { gateway } = shared();
      const response = await gateway.post(PATHS.messages, { model: `acme/${name}`, ...request });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /messages\[2\]\.content\[1\]: is an image in instructions/);
    });
});
