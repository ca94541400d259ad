import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';

const BYTES = 12 * 1_024 * 1_024;
const ANSWER = { candidates: [{ content: { role: 'model', parts: [{ text: 'Seen.' }] }, finishReason: 'STOP' }] };

test('frees the memory of fetched files after each request', async (t) => {
  const files = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(BYTES, 1));
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const upstream = await startUpstream(json(200, ANSWER));
  const gateway = await startGateway({
    downloads: { isAllowed: () => true, protocols: ['http:'] },
    yaml: `
server: { file_memory_mb: 64 }
providers: { sees: { adapter: google, base_url: "${upstream.baseUrl}", api_key: secret-1 } }
models: { acme/sees: { endpoints: [{ provider: sees, model: gemini-2.5-flash }] } }
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
    files.close();
  });
  const { port } = files.address() as AddressInfo;
  const ask = (name: number): Promise<Response> => {
    const image = { type: 'image_url', image_url: { url: `http://127.0.0.1:${port}/${name}.png` } };
    return gateway.post('/chat/completions', { model: 'acme/sees', messages: [{ role: 'user', content: [image] }] });
  };
  // More than 64 MB in all, of which a leak would keep what came first.
  for (let name = 0; name < 7; name++) {
    const response = await ask(name);
    assert.equal(response.status, 200, `file ${name}`);
    await response.text();
  }
});
