import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findChromium, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
/** A provider that is away, and one that serves: each request to the model falls back. */
const YAML = `
providers:
  away: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: a, data_policy: { training: false, retention_days: 0 } }
  picky: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: b, data_policy: { training: true, retention_days: 30 } }
models:
  acme/one:
    name: Acme One
    context_length: 8000
    endpoints:
      - { provider: away, model: one, price: { prompt: 0.1, completion: 0.2 } }
      - { provider: picky, model: one, price: { prompt: 0.2, completion: 0.4 } }
`;
const MANY = 20_000;

interface Row {
  readonly id: string;
  readonly model: string;
  readonly total_cost: number | null;
}

suite('requests', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: YAML });
    for (const [model, session] of [
      ['sandbox/echo', 'first'],
      ['sandbox/error-429', 'second'],
      ['sandbox/echo', 'third'],
    ])
      await ask(stand, { model, session_id: session });
  });
  after(() => stand.close());

  test('are listed with four calls at most, and none for a row', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/settings`);
    const calls: string[] = [];
    page.on(
      'request',
      (request) => request.url().includes('/ui/api/v1/') && calls.push(new URL(request.url()).pathname),
    );
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByRole('grid', { name: 'Requests' }).waitFor();
    await settle(page);
    assert.ok(calls.length <= 4, calls.join(', '));
    await context.close();
  });

  test('show the same after a reload and in a second browser: rows, filter, columns and open panel', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/requests?model=sandbox/*&cols=status,model,session&range=1h`);
    await page.getByRole('gridcell', { name: 'third' }).click();
    await page.waitForURL(/peek=/);
    const seen = await pictureOf(page);
    await page.reload();
    await settle(page);
    assert.deepEqual(await pictureOf(page), seen);
    const second = await stand.open();
    await visit(second.page, page.url());
    assert.deepEqual(await pictureOf(second.page), seen);
    await second.context.close();
    await context.close();
  });

  test('are gone through in the order of the filtered list', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/requests?model=sandbox/echo`);
    await page.getByRole('gridcell', { name: 'third' }).click();
    const panel = page.getByRole('complementary');
    await panel.getByRole('link', { name: 'third' }).waitFor();
    await page.keyboard.press(']');
    await panel.getByRole('link', { name: 'first' }).waitFor();
    await page.keyboard.press('[');
    await panel.getByRole('link', { name: 'third' }).waitFor();
    await context.close();
  });

  test('leave an audit event for content that is read, and none before the click', async () => {
    const { page, context } = await stand.open();
    const [workspace] = (
      (await (await stand.call('/workspaces')).json()) as { readonly data: readonly { readonly id: string }[] }
    ).data;
    const kept = { is_observability_io_logging_enabled: true, io_logging_sampling_rate: 1 };
    assert.equal((await stand.call(`/workspaces/${workspace?.id ?? ''}`, kept, undefined, 'PATCH')).status, 200);
    await ask(stand, { model: 'sandbox/echo', session_id: 'kept' });
    const [row] = await rowsOf(stand);
    const contents: string[] = [];
    page.on('request', (request) => request.url().includes('/generation/content') && contents.push(request.url()));
    const reads = async (): Promise<number> =>
      ((await (await stand.call('/audit?action=readGenerationContent')).json()) as { readonly total_count: number })
        .total_count;
    await visit(page, `${stand.url}/ui/requests/${row?.id ?? ''}`);
    assert.deepEqual([contents.length, await reads()], [0, 0]);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Hello').first().waitFor();
    assert.deepEqual([contents.length, await reads()], [1, 1]);
    await context.close();
  });

  test('show every attempt, and each endpoint that was left out with its reason', async () => {
    await ask(stand, { model: 'acme/one', session_id: 'denied', provider: { data_collection: 'deny' } });
    const [row] = (await rowsOf(stand)).filter(({ model }) => model === 'acme/one');
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/requests/${row?.id ?? ''}`);
    await page.getByText('no provider was reached').waitFor();
    await page.getByText('could not be reached').first().waitFor();
    await page.getByText('2 considered').waitFor();
    await page.getByText('trains on what it gets, or keeps it, which was denied').waitFor();
    await page.getByRole('link', { name: 'Explain now' }).click();
    await page.getByRole('heading', { name: 'Routing' }).waitFor();
    await context.close();
  });

  test('keep few rows in the document, however long the list is', async () => {
    const { page, context } = await stand.open();
    const [row] = await rowsOf(stand);
    const data = Array.from({ length: MANY }, (_, at) => ({ ...row, id: `gen-${at}`, session_id: `session ${at}` }));
    await page.route('**/ui/api/v1/generations?*', (route) =>
      route.fulfill({ json: { data, next_cursor: null, searched_to: null, looked_at: MANY } }),
    );
    await visit(page, `${stand.url}/ui/requests`);
    const grid = page.getByRole('grid', { name: 'Requests' });
    assert.equal(await grid.getAttribute('aria-rowcount'), String(MANY + 1));
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByRole('gridcell', { name: `session ${MANY - 1}` }).waitFor();
    assert.ok((await grid.getByRole('row').count()) <= 80);
    await context.close();
  });
});

async function ask(stand: Stand, body: Readonly<Record<string, unknown>>): Promise<void> {
  const messages = [{ role: 'user', content: 'Hello' }];
  await (await stand.call('/chat/completions', { messages, ...body }, stand.apiKey)).text();
}

async function rowsOf(stand: Stand): Promise<readonly Row[]> {
  return ((await (await stand.call('/generations')).json()) as { readonly data: readonly Row[] }).data;
}

/** What a page shows of its list and its panel. */
async function pictureOf(page: Page): Promise<readonly string[]> {
  await page.getByRole('grid', { name: 'Requests' }).waitFor();
  const rows = await page.getByRole('grid', { name: 'Requests' }).getByRole('row').allTextContents();
  const panel = await page.getByRole('complementary').getByRole('link').allTextContents();
  return [...rows, ...panel];
}
