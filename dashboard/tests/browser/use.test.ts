import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { findChromium, findWithAxe, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('working with the dashboard', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('goes to pages by letters, and leaves letters alone inside fields', async () => {
    const { page, context } = await stand.open();
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await settle(page);
    await page.keyboard.press('/');
    await page.keyboard.type('gm?n');
    assert.equal(await page.getByRole('searchbox', { name: 'Filter keys' }).inputValue(), 'gm?n');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.keyboard.press('Escape');
    await context.close();
  });

  test('finds a page by Ctrl K, and opens what a pasted id names', async () => {
    const { page, context } = await stand.open();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('models');
    assert.deepEqual(await findWithAxe(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    const completion = (await (
      await stand.call(
        '/chat/completions',
        { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] },
        stand.apiKey,
      )
    ).json()) as { readonly id: string };
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(completion.id);
    await page.keyboard.press('Enter');
    await page.getByText('Reading what people wrote').waitFor();
    assert.ok(page.url().endsWith(completion.id));
    await context.close();
  });

  test('shows the same after a reload, a step back and in another browser', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/models`);
    await page.getByRole('searchbox', { name: 'Filter models' }).fill('reason');
    await page.waitForURL(/q=reason/);
    await page.getByRole('button', { name: 'price' }).click();
    await page.waitForURL(/sort=price/);
    const rows = page.getByRole('grid', { name: 'Models' }).getByRole('row');
    const seen = await rows.allTextContents();
    assert.equal(seen.length, 2);
    await page.reload();
    await settle(page);
    await rows.nth(1).waitFor();
    assert.deepEqual(await rows.allTextContents(), seen);
    const second = await stand.open();
    await visit(second.page, page.url());
    await second.page.getByRole('grid', { name: 'Models' }).waitFor();
    assert.deepEqual(await second.page.getByRole('grid', { name: 'Models' }).getByRole('row').allTextContents(), seen);
    await page.goBack();
    assert.ok(!page.url().includes('sort='));
    await second.context.close();
    await context.close();
  });

  test('sends to two models beside each other, folds reasoning, and charges what the records say', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo,sandbox/reasoning`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Why is the **sky** blue?');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'sandbox/reasoning' }).getByText('Reasoning').waitFor();
    await page.getByRole('region', { name: 'sandbox/echo' }).locator('strong', { hasText: 'sky' }).waitFor();
    await page.getByRole('link', { name: 'the record' }).nth(1).waitFor();
    await page.getByRole('link', { name: 'the record' }).first().click();
    await page.getByText('Reading what people wrote').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('answers a tool call by hand, and the turn goes on', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=sandbox/tools`);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page
      .getByLabel('Functions, as JSON')
      .fill(
        '[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]',
      );
    await page.getByRole('textbox', { name: 'Message' }).fill('What is the weather in Paris?');
    await page.keyboard.press('Enter');
    await page.getByLabel('What weather returns').fill('sunny');
    await page.getByRole('button', { name: 'Answer and go on' }).click();
    await page.getByText(/sunny/).first().waitFor();
    await context.close();
  });

  test('makes a key by keyboard alone, shows it once, and disables it', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/keys`);
    await page.keyboard.press('n');
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.keyboard.type('made by keyboard');
    await page.keyboard.press('Tab');
    await page.keyboard.type('10');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /made by keyboard/ });
    const key = (await dialog.getByLabel('The new key', { exact: true }).textContent())?.trim() ?? '';
    assert.match(key, /^mgw-/);
    await dialog.getByLabel('I have kept it').focus();
    await page.keyboard.press('Space');
    await dialog.getByRole('button', { name: 'Done' }).press('Enter');
    assert.equal((await stand.call('/key', undefined, key)).status, 200);
    await page.getByRole('gridcell', { name: 'made by keyboard' }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    assert.equal((await stand.call('/key', undefined, key)).status, 401);
    await context.close();
  });

  test('puts the sentence of a 400 beside its field', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/keys?new=true`);
    await page.getByLabel('Name', { exact: true }).fill('x');
    await page.getByLabel('Limit in USD').fill('-1');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    assert.equal(await page.getByLabel('Limit in USD').getAttribute('aria-invalid'), 'true');
    await context.close();
  });

  test('leads through the whole first run by keyboard alone, with nothing that axe finds', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/start`);
    await tabTo(page, 'Model');
    await page.keyboard.type('sandbox/echo');
    await tabTo(page, 'Say hello');
    await page.keyboard.press('Enter');
    await page.getByText('it responded').waitFor();
    await tabTo(page, 'Limit in USD a month');
    await page.keyboard.press('Enter');
    await page.getByText(/waiting for the first call/).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await tabTo(page, 'Copy: Settings of curl');
    await page.keyboard.press('Enter');
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    await promisify(execFile)('sh', ['-c', command]);
    await page.getByText('received', { exact: true }).waitFor({ timeout: 30_000 });
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('leads from nothing to a served call of curl, whose snippet runs as it is', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/start`);
    await page.getByLabel('Model', { exact: true }).selectOption('sandbox/echo');
    await page.getByRole('button', { name: 'Say hello' }).click();
    await page.getByText('it responded').waitFor();
    await page.getByRole('button', { name: 'Make key' }).click();
    await page.getByText(/waiting for the first call/).waitFor();
    const command = (await page.getByLabel('Settings of curl', { exact: true }).textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    assert.match(stdout, /"object":"chat.completion"/);
    await page.getByText('received', { exact: true }).waitFor({ timeout: 30_000 });
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('says of each call of the page what a program would send, without a key', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/keys`);
    await page.getByRole('button', { name: 'The API calls of this page' }).click();
    const text = (await page.getByRole('dialog').textContent()) ?? '';
    assert.match(text, /\/v1\/keys/);
    assert.match(text, /\$GATEWAY_MANAGEMENT_KEY/);
    await context.close();
  });
});

const TABS_MAX = 60;

/** Presses Tab until the control of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let at = 0; at < TABS_MAX; at += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(
      `((element) => element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent)(document.activeElement)`,
    );
    if (focused.trim() === name) return;
  }
  assert.fail(`Tab does not reach ${name}`);
}
