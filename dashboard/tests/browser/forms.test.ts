import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('forms', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('are not sent with a limit that is no number, and report it beside its field', async () => {
    const { page, context } = await stand.open();
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname));
    await visit(page, `${stand.url}/ui/keys?new=true`);
    await page.getByLabel('Name', { exact: true }).fill('with a comma');
    const limit = page.getByLabel('Limit in USD');
    await limit.fill('5,00');
    await page.getByRole('button', { name: 'Make key' }).click();
    await page.getByText('Write the decimals behind a point').waitFor();
    assert.equal(await limit.getAttribute('aria-invalid'), 'true');
    assert.equal(await limit.evaluate('document.activeElement.value'), '5,00');
    assert.ok(!sent.includes('/ui/api/v1/keys'), 'nothing was sent');
    await limit.fill('5.00');
    await page.getByRole('button', { name: 'Make key' }).click();
    await page.getByRole('dialog', { name: /with a comma/ }).waitFor();
    const keys = (await (await stand.call('/keys')).json()) as { readonly data: readonly Limited[] };
    assert.deepEqual(
      keys.data.filter(({ name }) => name === 'with a comma').map((key) => key.limit),
      [5],
    );
    await context.close();
  });

  test('are not sent without the number that they need', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/money`);
    await page.getByRole('button', { name: 'Grant' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Grant credit' });
    await dialog.getByLabel('Why').fill('nothing yet');
    await dialog.getByRole('button', { name: 'Grant', exact: true }).click();
    await dialog.getByText('Write a number.').waitFor();
    assert.equal(await dialog.getByLabel('USD').evaluate('document.activeElement.inputMode'), 'decimal');
    await context.close();
  });

  test('of the playground send no message while a setting is no number', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/playground`);
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByLabel('Temperature').fill('0,7');
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByText(/Nothing is sent until .* Temperature: Write the decimals/).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Send' }).isDisabled(), true);
    await page.getByLabel('Temperature').fill('0.7');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('link', { name: 'the record' }).waitFor();
    await context.close();
  });
});

interface Limited {
  readonly name: string;
  readonly limit: number | null;
}
