import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findChromium, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
/** More than a page of the API holds. */
const MANY = 105;

suite('long lists', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
    for (let at = 0; at < MANY; at += 1) {
      // One after the other, so that each is an audit event of its own time.
      const made = await stand.call('/guardrails', { name: `Rules ${at}` });
      assert.equal(made.status, 201);
    }
  });
  after(() => stand.close());

  test('are shown to their end, whatever a page of the API holds', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/guardrails`);
    assert.equal(await countRows(page, 'Guardrails'), MANY);
    await context.close();
  });

  test('go on behind their first page where they are read piece by piece', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/audit?action=createGuardrail`);
    const grid = page.getByRole('grid', { name: 'Audit events' });
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'Load older' }).click();
    await page.getByRole('button', { name: 'Load older' }).waitFor({ state: 'detached' });
    await grid.focus();
    await page.keyboard.press('End');
    await grid.locator(`[aria-rowindex="${MANY + 1}"]`).waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('are filtered once the typing rests, also on a page that renders all the while', async () => {
    for (const slug of ['of-one', 'of-two'])
      await stand.call(`/presets/${slug}/chat/completions`, {
        model: 'sandbox/echo',
        messages: [{ role: 'system', content: 'Be short.' }],
      });
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/presets`);
    // Each new parameter of the address renders the page.
    await page.evaluate(`setInterval(() => {
      const address = new URL(location.href);
      address.searchParams.set('at', String(Math.round(performance.now())));
      history.replaceState(history.state, '', address);
    }, 50)`);
    await page.getByLabel('Filter presets').fill('of-one');
    await page.waitForURL(/q=of/, { timeout: 5_000 });
    assert.equal(await countRows(page, 'Presets'), 1);
    await context.close();
  });

  test('of people are empty, and no failure, before a user is named', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/people`);
    await page.getByText('Only keys so far').waitFor();
    await context.close();
  });
});

/** Of the whole list, without the head. */
async function countRows(page: Page, name: string): Promise<number> {
  const count = await page.getByRole('grid', { name }).getAttribute('aria-rowcount');
  return Number(count) - 1;
}
