import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const YAML = `
providers:
  alpha: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: a }
  beta: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: b }
models:
  acme/one:
    name: Acme One
    context_length: 8000
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 0.1, completion: 0.2 } }
      - { provider: beta, model: one, price: { prompt: 0.2, completion: 0.4 } }
`;

suite('routing', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '', { yaml: YAML })));
  after(() => stand.close());

  test('moves an endpoint out that is pretended to be down, and keeps that in the address', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/routing?model=acme/one`);
    await page.getByText('2 of 2 endpoints may serve it').waitFor();
    const alpha = (of: typeof page) => of.getByRole('group', { name: 'Pretend that alpha is' });
    await alpha(page).getByRole('button', { name: 'down', exact: true }).click();
    await page.getByText('1 of 2 endpoints may serve it').waitFor();
    // The cheaper one is first four times in five.
    await page.getByText(/alpha \(acme\/one\): from place [12] to out/).waitFor();
    const second = await stand.open();
    await visit(second.page, page.url());
    await second.page.getByText('1 of 2 endpoints may serve it').waitFor();
    await alpha(second.page).getByRole('button', { name: 'down', exact: true, pressed: true }).waitFor();
    await second.context.close();
    await context.close();
  });

  test('plans the traffic again under other preferences', async () => {
    const { page, context, problems } = await stand.open();
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
    for (let at = 0; at < 2; at++) await (await stand.call('/chat/completions', body, stand.apiKey)).text();
    await visit(page, `${stand.url}/ui/routing?tab=backtest&model=sandbox/echo&deny=true`);
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.getByText('Planned again').waitFor();
    await page.getByRole('row', { name: /sandbox sandbox\/echo 2/ }).waitFor();
    await page.getByText('at the prices of now').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('shows the circuit of an endpoint that fails, and closes it by hand', async () => {
    const { page, context, problems } = await stand.open();
    const body = { model: 'acme/one', messages: [{ role: 'user', content: 'Hello' }] };
    for (let at = 0; at < 6; at += 1) await (await stand.call('/chat/completions', body, stand.apiKey)).text();
    await visit(page, `${stand.url}/ui/routing?tab=health`);
    const alpha = page.getByRole('row', { name: /alpha/ });
    await alpha.getByText(/^open/).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await alpha.getByRole('button', { name: 'Close now: the circuit of alpha' }).click();
    // It stays in the list, and nothing is known of it until it is called again.
    await alpha.getByText(/^open/).waitFor({ state: 'detached' });
    await alpha.waitFor();
    await settle(page);
    assert.deepEqual(problems, []);
    await context.close();
  });
});
