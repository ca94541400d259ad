import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { ClientFormatId } from '../../src/canonical/extra.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, PATHS, shareAllUpstreams, startAllUpstreams, type UpstreamName } from '../support/all-upstreams.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../support/media.ts';
import { say } from '../support/speak.ts';
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
let asked: string[] = [];
let filesUrl = '';

before(async () => {
  files = createServer((request, response) => {
    asked.push(request.url ?? '');
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

function withImage(caller: ClientFormatId, url: Address): JsonObject {
  const data = /^data:([^;]+);base64,(.*)$/.exec(url);
  const source = data === null ? { type: 'url', url } : { type: 'base64', media_type: data[1], data: data[2] };
  const part = caller === 'chat' ? { type: 'image_url', image_url: { url } } : { type: 'image', source };
  return {
    max_tokens: 100,
    messages: [{ role: 'user', content: [part, { type: 'text', text: 'What?' }] }],
  };
}

function withPdf(caller: ClientFormatId, url: Address): JsonObject {
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

suite('a picture', () => {
  for (const caller of CALLERS) {
    for (const name of OPENS)
      test(`at an address is ${name}'s to open: ${caller} caller`, async () => {
        const { ask } = shared();
        asked = [];
        const { arrived } = await ask(caller, name, withImage(caller, `${filesUrl}/pixel.png`));
        assert.ok(arrived.text.includes(`"${filesUrl}/pixel.png"`));
        assert.deepEqual(asked, []);
      });

    for (const name of FETCHED)
      test(`at an address is fetched for ${name}: ${caller} caller`, async () => {
        const { ask } = shared();
        asked = [];
        const body = withImage(caller, `${filesUrl}/pixel.png`);
        const [first] = body['messages'] as readonly JsonObject[];
        // Twice in one request, and fetched once.
        const twice = { ...body, messages: [first, { role: 'assistant', content: 'A pixel.' }, first] };
        const { arrived } = await ask(caller, name, twice as JsonObject);
        assert.equal(arrived.text.split(PNG_BASE64).length - 1, 2);
        assert.ok(!arrived.text.includes(filesUrl));
        assert.deepEqual(asked, ['/pixel.png']);
      });

    for (const name of [...OPENS, ...FETCHED])
      test(`as data arrives as data at ${name}: ${caller} caller`, async () => {
        const { ask } = shared();
        const { arrived } = await ask(caller, name, withImage(caller, PNG_DATA_URL));
        assert.equal(arrived.text.split(PNG_BASE64).length - 1, 1);
      });

    test(`that cannot be fetched is the caller's 400, and nothing is sent: ${caller} caller`, async () => {
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

    test(`that cannot be fetched is left to an endpoint that opens addresses: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = say('A pixel.');
      const { arrived, told } = await ask(caller, 'acme/blind-first', withImage(caller, `${filesUrl}/huge.png`));
      assert.equal(told.text, 'A pixel.');
      assert.match(arrived.path, /\/claude\//);
    });

    test(`that a vendor finds too large is told in its words: ${caller} caller`, async () => {
      const { gateway, upstream } = shared();
      const message =
        'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes';
      upstream.script = json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
      const response = await gateway.post(PATHS[caller], { model: 'acme/claude', ...withImage(caller, PNG_DATA_URL) });
      const text = await response.text();
      assert.equal(response.status, 400);
      assert.ok(text.includes('image exceeds 5 MB maximum') && text.includes('"error_type":"image_too_large"'), text);
      upstream.script = say('Done.');
    });
  }

  test('inside of our own network is not fetched, whatever it is called', async (t) => {
    const { gateway, upstream } = await startAllUpstreams(t);
    asked = [];
    for (const url of [
      `${filesUrl}/pixel.png`,
      'https://127.0.0.1/x.png',
      'https://169.254.169.254/latest/meta-data',
    ]) {
      const response = await gateway.post(PATHS.chat, { model: 'acme/gemini', ...withImage('chat', url) });
      assert.equal(response.status, 400);
      await response.body?.cancel();
    }
    assert.deepEqual([asked, upstream.arrived], [[], []]);
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
      test(`at an address is ${isFetched ? 'fetched for' : 'opened by'} ${name}: ${caller} caller`, async () => {
        const { ask } = shared();
        asked = [];
        const { arrived } = await ask(caller, name, withPdf(caller, `${filesUrl}/page.pdf`));
        assert.deepEqual(asked, isFetched ? ['/page.pdf'] : []);
        assert.equal(arrived.text.includes(PDF_BASE64), isFetched);
        assert.equal(arrived.text.includes(`${filesUrl}/page.pdf`), !isFetched);
      });

    test(`that a format cannot carry makes the endpoint unfit; text in a file is read all the same: ${caller} caller`, async () => {
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

suite('a sound', () => {
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
    test(`is heard by ${name}`, async () => {
      const { ask } = shared();
      const { arrived } = await ask('chat', name, body);
      assert.ok(arrived.text.includes(WAV_BASE64));
      if (name === 'gemini') assert.ok(arrived.text.includes('"mimeType":"audio/wav"'));
    });

  test('goes past endpoints whose format has no sound', async () => {
    const { ask } = shared();
    const { arrived } = await ask('chat', 'acme/deaf-first', body);
    assert.match(arrived.path, /\/gemini\//);
  });

  for (const name of ['claude', 'converse', 'cohere'] as const)
    test(`is 404 where only ${name} could answer: nobody would hear it`, async () => {
      const { gateway, upstream } = shared();
      upstream.arrived.length = 0;
      const response = await gateway.post(PATHS.chat, { model: `acme/${name}`, ...body });
      const text = await response.text();
      assert.equal(response.status, 404, text);
      assert.match(text, /audio/);
      assert.equal(upstream.arrived.length, 0);
    });
});

suite('a picture in instructions that a messages caller gives later', () => {
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
    test(`is sent where it stands: ${name}`, async () => {
      const { ask } = shared();
      const { arrived, warnings } = await ask('messages', name, request);
      assert.ok(arrived.text.includes(PNG_BASE64));
      assert.deepEqual(warnings, []);
    });

  for (const name of ['openai', 'responses', 'cohere'] as const satisfies readonly UpstreamName[])
    test(`is 400 at its place where instructions are text alone: ${name}`, async () => {
      const { gateway } = shared();
      const response = await gateway.post(PATHS.messages, { model: `acme/${name}`, ...request });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /messages\[2\]\.content\[1\]: is an image in instructions/);
    });
});
