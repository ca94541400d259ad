import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';

for (const [path, header] of [
  ['/chat/completions', 'x-request-id'],
  ['/messages', 'request-id'],
] as const)
  // @spec error-7, request-33
  test(`sends the request id where clients look for it: ${path}, ${header}`, async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    for (const [model, stream] of [
      ['sandbox/echo', false],
      ['sandbox/echo', true],
      ['sandbox/error-500', false],
    ]) {
      const response = await gateway.post(path, {
        model,
        stream,
        max_tokens: 5,
        messages: [{ role: 'user', content: 'hi' }],
      });
      await response.text();
      const id = response.headers.get('x-generation-id');
      assert.match(id ?? '', /^gen-/);
      assert.equal(response.headers.get(header), id);
    }
  });
