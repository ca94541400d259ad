import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

/** Begins each response, and never ends it. */
function startEndless(onCut: () => void): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.on('close', onCut);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'On and on' } }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

suite('requests under way', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let upstream: Server;
  let cut = 0;
  before(async () => {
    upstream = await startEndless(() => cut++);
    const { port } = upstream.address() as AddressInfo;
    stand = await startStand(CHROMIUM ?? '', {
      args: ['--workers', '2'],
      yaml: `
providers:
  endless: { adapter: openai-compatible, name: Endless, base_url: 'http://127.0.0.1:${port}/v1', api_key: a }
models:
  acme/endless: { endpoints: [{ provider: endless, model: one, price: { prompt: 1, completion: 1 } }] }
`,
    });
  });
  after(async () => {
    await stand.close();
    upstream.close();
  });

  test('of all workers are listed and can be stopped, and their records say so', async () => {
    const { page, context, problems } = await stand.open();
    const body = { model: 'acme/endless', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
    // So many that both workers have some.
    const texts = Array.from({ length: 4 }, async () =>
      (await stand.call('/chat/completions', body, stand.apiKey)).text(),
    );
    await visit(page, `${stand.url}/ui/requests?running=true`);
    const list = page.getByRole('region', { name: 'Running' });
    await list.getByText('4 under way, in 3 processes.').waitFor();
    assert.equal(await list.getByRole('cell', { name: 'Endless', exact: true }).count(), 4);
    assert.deepEqual(await findWithAxe(page), []);
    for (let left = 3; left >= 0; left--) {
      await list
        .getByRole('button', { name: /^Stop gen-/ })
        .first()
        .click();
      await list.getByText(left === 0 ? 'No request is under way.' : `${left} under way`).waitFor();
    }
    for (const text of await Promise.all(texts)) assert.match(text, /was stopped by its key or an operator/);
    assert.equal(cut, 4);
    const [row] = ((await (await stand.call('/generations?status=cancelled')).json()) as { data: { id: string }[] })
      .data;
    await visit(page, `${stand.url}/ui/requests/${row?.id ?? ''}`);
    await page.getByText('was stopped by its key or an operator').first().waitFor();
    await visit(page, `${stand.url}/ui/audit`);
    await page.getByText('stopGeneration').first().waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('that have ended can be downloaded', async () => {
    const { page, context } = await stand.open();
    await (
      await stand.call(
        '/chat/completions',
        { model: 'sandbox/echo', messages: [{ role: 'user', content: 'x' }] },
        stand.apiKey,
      )
    ).text();
    await visit(page, `${stand.url}/ui/requests?model=sandbox/*`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'requests.csv');
    const content = await download.createReadStream();
    let text = '';
    for await (const chunk of content) text += String(chunk);
    assert.match(text, /^id,/);
    assert.equal(text.trim().split('\r\n').length, 2);
    await context.close();
  });
});
