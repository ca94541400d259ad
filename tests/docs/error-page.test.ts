import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';

// @spec error-22
test('leads from the address in an error to a page that explains its code', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const answer = await gateway.post('/chat/completions', {
    model: 'nobody/nothing',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const { error } = (await answer.json()) as { error: { availability: { code: string; docs_url: string } } };
  const page = await fetch(error.availability.docs_url);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  assert.ok((await page.text()).includes(`id="${error.availability.code}"`));
});
