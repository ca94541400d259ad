import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand, type Visit } from './support.ts';

const CHROMIUM = findChromium();
const SHOTS = process.env['SHOTS'];

suite('provisioning', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: 'organization: { enabled: true }\nscim: { enabled: true }\n' });
  });
  after(() => stand.close());

  async function open(options: { readonly theme?: 'dark' | 'light'; readonly width?: number } = {}): Promise<Visit> {
    const visitor = await stand.open({ ...options, isSignedIn: false });
    await visitor.page.goto(`${stand.url}/`);
    await visitor.page.getByRole('button', { name: 'Use a key' }).click();
    await visitor.page.getByLabel('Management key or API key').fill(stand.managementKey);
    await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await visitor.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return visitor;
  }

  async function push(token: string, path: string, body: unknown): Promise<number> {
    const response = await fetch(`${stand.url}/scim/v2${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  }

  test('makes a token, shows what a provider did and why not, and maps a group to a workspace', async () => {
    const { page, context, problems } = await open();
    await visit(page, `${stand.url}/ui/provisioning`);
    await page.getByText('No identity provider has called').waitFor();
    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New token' });
    await form.getByRole('button', { name: 'Make token' }).click();
    await form.getByText('Fill in this field.').waitFor();
    await form.getByLabel('Name').fill('Entra ID');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Make token' }).click();
    const shown = page.getByRole('dialog', { name: 'The token' });
    const token = (await shown.getByLabel('Token', { exact: true }).textContent()) ?? '';
    await page.keyboard.press('Escape');
    assert.ok(!(await page.content()).includes(token), 'the token stays in the page');

    const user = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ann@acme.example',
      active: true,
    };
    const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Platform' };
    assert.deepEqual(
      [await push(token, '/Users', user), await push(token, '/Users', user), await push(token, '/Groups', group)],
      [201, 409, 201],
    );
    await visit(page, `${stand.url}/ui/provisioning`);
    await page.getByRole('gridcell', { name: '409' }).click();
    await page.getByRole('heading', { name: 'Why not' }).waitFor();
    await page.getByRole('complementary').getByText('Entra ID').waitFor();
    assert.deepEqual(await findWithAxe(page), []);

    await page.getByRole('button', { name: 'Mappings' }).click();
    await page.getByText('Groups give no workspace').waitFor();
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByRole('button', { name: 'Make mapping' }).click();
    await page.getByRole('gridcell', { name: 'Platform' }).click();
    await page.getByRole('complementary').getByRole('button', { name: 'admin' }).click();
    await page.getByRole('gridcell', { name: 'admin' }).waitFor();
    const listed = (await (await stand.call('/scim/group-mappings')).json()) as { data: { role: string }[] };
    assert.deepEqual(
      listed.data.map(({ role }) => role),
      ['admin'],
    );
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Delete the mapping' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'leave' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete mapping' }).click();
    await page.getByText('Groups give no workspace').waitFor();

    await page.getByRole('button', { name: 'Tokens' }).click();
    await page.getByRole('gridcell', { name: 'Entra ID' }).click();
    await page.getByRole('button', { name: 'Delete the token' }).click();
    await page.getByLabel(/Type/).fill('Entra ID');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete token' }).click();
    await page.getByText('There is no token').waitFor();
    assert.equal(await push(token, '/Users', user), 401);
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('fits a narrow screen', async () => {
    for (const [theme, width] of [
      ['dark', 1280],
      ['light', 1280],
      ['dark', 390],
      ['light', 390],
    ] as const) {
      const { page, context } = await open({ theme, width });
      await visit(page, `${stand.url}/ui/provisioning`);
      await page.getByRole('gridcell', { name: '409' }).waitFor();
      assert.deepEqual(await findWithAxe(page), []);
      const wide = await page.evaluate<number>('document.querySelector("main").scrollWidth');
      assert.ok(wide <= width, String(wide));
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/provisioning-${theme}-${width}.png` });
      await context.close();
    }
  });
});
