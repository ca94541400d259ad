import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { encodePng } from '../../src/sandbox/png.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { API_KEY } from '../support/gateway.ts';

const MB = 1_048_576;
const LIMIT_MB = 1_024;
const AT_ONCE = 20;
const PNG = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []);
/** A picture of 30 MB, whose end is nothing but noise: 40 MB of base64. */
const BASE64 = Buffer.from(Buffer.concat([PNG, Buffer.alloc(30 * MB, 'some noise, and more ')]).toString('base64'));
const DIGEST = createHash('sha256').update(BASE64).digest('hex');

async function startUpstream(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => send(response, text.includes('"stream":true')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** All of them send the same buffer. */
function send(response: ServerResponse, isStream: boolean): void {
  const [head, tail] = isStream
    ? ['data: {"type":"image_generation.completed","b64_json":"', '"}\n\ndata: [DONE]\n\n']
    : ['{"data":[{"b64_json":"', '"}]}'];
  const length = head.length + BASE64.length + tail.length;
  response.writeHead(200, {
    'content-type': isStream ? 'text/event-stream' : 'application/json',
    ...(!isStream && { 'content-length': length }),
  });
  response.write(head);
  response.write(BASE64);
  response.end(tail);
}

/** The base64 of an answer, hashed as it comes: twenty of them are not to be in the memory of the test. */
async function digestOf(response: Response): Promise<string> {
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  assert.ok(response.body);
  const hash = createHash('sha256');
  let before = '';
  let isInside = false;
  let left = BASE64.length;
  for await (const chunk of response.body) {
    let bytes = Buffer.from(chunk);
    if (!isInside) {
      before += bytes.toString('latin1');
      const at = before.indexOf('"b64_json":"');
      if (at < 0) continue;
      isInside = true;
      bytes = Buffer.from(before.slice(at + '"b64_json":"'.length), 'latin1');
    }
    const part = bytes.subarray(0, left);
    left -= part.length;
    hash.update(part);
  }
  assert.equal(left, 0);
  return hash.digest('hex');
}

suite('pictures of 40 MB, many at a time', () => {
  for (const stream of [false, true])
    test(`stay within the memory of the process and reach their callers as they came, ${stream ? 'in streams' : 'whole'}`, async (t) => {
      const upstream = await startUpstream(t);
      const config = join(makeFolder(t), 'gateway.yaml');
      writeFileSync(
        config,
        `
server: { memory_limit_mb: ${LIMIT_MB} }
providers: { big: { adapter: openai-compatible, base_url: "${upstream}/v1", api_key: k } }
models:
  a/big: { output_modalities: [image], endpoints: [{ provider: big, model: b, price: { prompt: 0, completion: 0 } }] }
`,
      );
      const gateway = await startGateway(t, { args: ['--config', config], env: { GATEWAY_API_KEY: API_KEY } });
      const request = async (): Promise<string> => {
        const response = await fetch(`${gateway.url}/v1/images`, {
          method: 'POST',
          headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'a/big', prompt: 'x', stream }),
        });
        return digestOf(response);
      };
      const digests = await Promise.all(Array.from({ length: AT_ONCE }, request));
      assert.deepEqual([...new Set(digests)], [DIGEST]);
      const status = readFileSync(`/proc/${gateway.child.pid ?? ''}/status`, 'utf8');
      const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
      t.diagnostic(`the process took ${Math.round(peakMb)} MB at most`);
      assert.ok(peakMb < LIMIT_MB, `${peakMb} MB`);
    });
});
