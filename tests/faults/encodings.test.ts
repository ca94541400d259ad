import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, suite, test } from 'node:test';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { startGateway } from '../support/gateway.ts';
import { readChatStream } from '../support/http/read-stream.ts';
import { chatAnswer, chatChunk, json, sse, startUpstream, type Script } from '../support/upstream.ts';

const upstream = await startUpstream(json(500, {}));
/** Sends an unrequested `100 Continue` before each response. */
const eager = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', () => {
    const body = JSON.stringify(chatAnswer('Said.'));
    socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
  });
});
eager.listen(0, '127.0.0.1');
await once(eager, 'listening');
const gateway = await startGateway({
  yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: a }
  eager: { adapter: openai-compatible, base_url: "http://127.0.0.1:${(eager.address() as AddressInfo).port}/v1", api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one }] }
  acme/other: { endpoints: [{ provider: alpha, model: other }] }
  acme/eager: { endpoints: [{ provider: eager, model: one }] }
`,
});
after(async () => {
  await gateway.close();
  await upstream.close();
  eager.close();
});

const CODECS = {
  gzip: { whole: gzipSync, stream: () => createGzip({ flush: constants.Z_SYNC_FLUSH }) },
  deflate: { whole: deflateSync, stream: () => createDeflate({ flush: constants.Z_SYNC_FLUSH }) },
  br: { whole: brotliCompressSync, stream: () => createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH }) },
  zstd: { whole: zstdCompressSync, stream: () => createZstdCompress({ flush: constants.ZSTD_e_flush }) },
} as const;
type Encoding = keyof typeof CODECS;

function encoded(status: number, body: object, encoding: Encoding): Script {
  return (_arrived, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding });
    response.end(CODECS[encoding].whole(JSON.stringify(body)));
  };
}

function ask(model: string, stream = false): Promise<Response> {
  return gateway.post('/chat/completions', { model, stream, messages: [{ role: 'user', content: 'hi' }] });
}

suite('an upstream that encodes its responses unrequested', () => {
  for (const encoding of Object.keys(CODECS) as Encoding[]) {
    test(`is read, in one piece and as an error: ${encoding}`, async () => {
      upstream.script = encoded(200, chatAnswer('Said.'), encoding);
      const answer = (await (await ask('acme/one')).json()) as { choices: [{ message: { content: string } }] };
      assert.equal(answer.choices[0].message.content, 'Said.');
      upstream.script = encoded(400, { error: { message: 'seventeen is too many', code: 'invalid' } }, encoding);
      const refused = await ask('acme/one');
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /seventeen is too many/);
    });

    test(`is streamed: ${encoding}`, async () => {
      let more: (() => void) | undefined;
      upstream.script = (_arrived, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
        const codec = CODECS[encoding].stream();
        codec.pipe(response);
        codec.write(sse([chatChunk({ role: 'assistant', content: 'first' })]));
        more = () => codec.end(sse([chatChunk({ content: ' second' }), chatChunk({}, 'stop'), '[DONE]']));
      };
      const response = await ask('acme/one', true);
      const reader = response.body?.getReader();
      assert.ok(reader);
      let text = '';
      const decoder = new TextDecoder();
      while (!text.includes('first')) text += decoder.decode((await reader.read()).value);
      assert.ok(!text.includes('second'));
      more?.();
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += decoder.decode(read.value);
      const answer = readChatStream(text);
      assert.deepEqual([answer.text, answer.finish], ['first second', 'stop']);
    });
  }

  test('is a 502 that names an unknown encoding', async () => {
    upstream.script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'compress' });
      response.end('......');
    };
    const response = await ask('acme/other');
    assert.equal(response.status, 502);
    assert.match(await response.text(), /content encoding \\"compress\\" is none of gzip, br, deflate and zstd/);
  });

  test('is refused at the limit of inflated bytes', async () => {
    upstream.script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(80 * 1_024 * 1_024, ' ')));
    };
    const response = await ask('acme/other');
    assert.equal(response.status, 502);
    assert.match(await response.text(), /too large/);
  });
});

test('may send a 100 Continue without effect', async () => {
  for (let request = 0; request < 4; request++) {
    const response = await ask('acme/eager');
    assert.match(await response.text(), /Said\./);
    assert.equal(response.status, 200);
  }
});
