import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findChromium, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
/** More tabs than HTTP/1.1 gives a host connections. */
const TABS = 8;
const BURST = 300;
const AT_ONCE = 30;

suite('live views', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('show a request that was made elsewhere, without reading the list again', async () => {
    const { page, context, problems } = await stand.open();
    await openTail(stand, page, '');
    const lists: string[] = [];
    page.on('request', (request) => request.url().includes('/generations') && lists.push(request.url()));
    await ask(stand, 'from elsewhere');
    await rowsOf(page, 'from elsewhere').waitFor();
    assert.deepEqual(lists, []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('show the rows that fit the filters of the page, and no others', async () => {
    const { page, context } = await stand.open();
    await openTail(stand, page, '&session=wanted');
    await ask(stand, 'other');
    await ask(stand, 'wanted');
    await rowsOf(page, 'wanted').waitFor();
    assert.equal(await rowsOf(page, 'other').count(), 0);
    await context.close();
  });

  test('pause at p, count what waits, and go on', async () => {
    const { page, context } = await stand.open();
    await openTail(stand, page, '');
    await page.keyboard.press('p');
    await ask(stand, 'waits');
    await page.getByRole('button', { name: /Show 1 waiting/ }).waitFor();
    assert.equal(await rowsOf(page, 'waits').count(), 0);
    await page.keyboard.press('p');
    await rowsOf(page, 'waits').waitFor();
    await page.getByRole('button', { name: 'End the tail' }).click();
    await page.getByRole('button', { name: /^Tail/ }).waitFor();
    await context.close();
  });

  test('reach more tabs than a browser opens connections', async () => {
    const { page, context } = await stand.open();
    const tabs = [page];
    while (tabs.length < TABS) tabs.push(await context.newPage());
    for (const tab of tabs) await openTail(stand, tab, '');
    await ask(stand, 'in each tab');
    for (const tab of tabs) await rowsOf(tab, 'in each tab').waitFor();
    await context.close();
  });

  test('go on after the gateway ended a session and another began', async () => {
    const { page, context } = await stand.open();
    await openTail(stand, page, '');
    await page.evaluate(
      `fetch('/ui/api/session', { method: 'DELETE', headers: { 'X-Console-Token': localStorage.getItem('gateway.console-token') } })`,
    );
    await page.getByLabel('Management key or API key').fill(stand.managementKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    await page.getByText('The tail is live.').waitFor({ state: 'attached' });
    await ask(stand, 'after signing in');
    await rowsOf(page, 'after signing in').waitFor();
    await context.close();
  });

  test('show every request of a burst once, and keep few rows in the document', async () => {
    const { page, context, problems } = await stand.open();
    await openTail(stand, page, '&requested=sandbox/echo&range=1h');
    const grid = page.getByRole('grid', { name: 'Requests' });
    const countOf = async (): Promise<number> => Number((await grid.getAttribute('aria-rowcount')) ?? 1) - 1;
    await ask(stand, 'before the burst');
    await rowsOf(page, 'before the burst').waitFor();
    const known = await countOf();
    for (let at = 0; at < BURST; at += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, of) => ask(stand, `burst ${at + of}`)));
    await ask(stand, 'after the burst');
    await rowsOf(page, 'after the burst').waitFor();
    assert.equal((await countOf()) - known, BURST + 1);
    assert.ok((await grid.getByRole('row').count()) <= 80);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('give the overview its rate', async () => {
    const { page, context } = await stand.open();
    await page.getByLabel('Requests a second').getByText('0.0 /s').waitFor();
    await ask(stand, 'counted');
    await page
      .getByLabel('Requests a second')
      .getByText(/^0\.[1-9] \/s$/)
      .waitFor();
    await context.close();
  });
});

suite('live views of a gateway with two workers', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '', { args: ['--workers', '2'] })));
  after(() => stand.close());

  test('show the requests of both', async () => {
    const { page, context } = await stand.open();
    await openTail(stand, page, '');
    const names = Array.from({ length: 8 }, (_, at) => `worker ${at}`);
    // Connections of their own are spread over the workers.
    await Promise.all(names.map((name) => ask(stand, name)));
    for (const name of names) await rowsOf(page, name).waitFor();
    await context.close();
  });
});

async function openTail(stand: Stand, page: Page, filters: string): Promise<void> {
  await visit(page, `${stand.url}/ui/requests?tail=true${filters}`);
  await page.getByText('The tail is live.').waitFor({ state: 'attached' });
}

/** A request whose session has this name, which its row shows. */
async function ask(stand: Stand, session: string): Promise<void> {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }], session_id: session };
  const response = await stand.call('/chat/completions', body, stand.apiKey);
  assert.equal(response.status, 200, await response.text());
}

function rowsOf(page: Page, session: string) {
  return page.getByRole('grid', { name: 'Requests' }).getByRole('gridcell', { name: session, exact: true });
}
