import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const VALUE = 's3cret-canary-0123456789';
const YAML = `providers:
  alpha: { adapter: openai-compatible, base_url: "https://api.alpha.example/v1", api_key: "vault:alpha_key" }
`;

suite('the vault', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: YAML });
  });
  after(() => stand.close());

  test('takes a secret, shows what names it and never its value, and gives it another one', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/vault`);
    await page.getByText('There is no secret here').waitFor();
    await page.getByRole('button', { name: 'New secret' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New secret' });
    assert.equal(await dialog.getByLabel('Value', { exact: true }).getAttribute('type'), 'password');
    await dialog.getByLabel('Name').fill('alpha_key');
    await dialog.getByLabel('Value', { exact: true }).fill(VALUE);
    await dialog.getByLabel('Hosts').fill('https://api.alpha.example');
    await dialog.getByText('The request that this sends').click();
    assert.ok(!((await dialog.locator('pre').textContent()) ?? '').includes(VALUE));
    await dialog.getByRole('button', { name: 'Seal and keep it' }).click();
    await dialog
      .getByText(/must be a host name alone/)
      .first()
      .waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await dialog.getByLabel('Hosts').fill('api.alpha.example\nbeta.example');
    await dialog.getByRole('button', { name: 'Seal and keep it' }).click();
    await page.getByRole('gridcell', { name: 'alpha_key' }).click();
    await page.getByText('providers.alpha.api_key').waitFor();
    assert.ok(!(await page.content()).includes(VALUE));
    assert.deepEqual(await findWithAxe(page), []);
    const earlier = await fingerprint();
    await page.getByRole('button', { name: 'Another value' }).click();
    const rotate = page.getByRole('dialog');
    assert.equal(await rotate.getByLabel('Hosts').inputValue(), 'api.alpha.example\nbeta.example');
    await rotate.getByLabel('Value', { exact: true }).fill('another value');
    await rotate.getByRole('button', { name: 'Seal and keep it' }).click();
    await rotate.waitFor({ state: 'hidden' });
    assert.notEqual(await fingerprint(), earlier);
    await context.close();
    // The refusal of the first hosts is one on purpose.
    assert.deepEqual(
      problems.filter((problem) => !problem.includes('400')),
      [],
    );
  });

  test('lists where secrets were sent, changes the master key, and deletes after the name is typed', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/vault?tab=releases`);
    await page.getByText('Nothing was sent').waitFor();
    await page.getByRole('button', { name: 'Master key' }).click();
    await page.getByRole('button', { name: 'Seal everything anew' }).click();
    await page.getByText(/rows were sealed anew/).waitFor();
    await page.keyboard.press('Escape');
    await visit(page, `${stand.url}/ui/vault?peek=alpha_key`);
    await page.getByText('providers.alpha.api_key').waitFor();
    await page.getByRole('button', { name: 'Delete the secret' }).click();
    await page.getByText('What names it fails from then on.').waitFor();
    await page.getByLabel(/Type/).fill('alpha_key');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete secret' }).click();
    await page.getByText('There is no secret here').waitFor();
    await context.close();
  });

  async function fingerprint(): Promise<string | null> {
    const list = (await (await stand.call('/vault/secrets?workspace_id=operator')).json()) as {
      readonly data: readonly { readonly fingerprint: string | null }[];
    };
    return list.data[0]?.fingerprint ?? null;
  }
});
