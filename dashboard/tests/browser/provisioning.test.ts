import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const YAML =
  'organization: { enabled: true, name: Acme }\nscim: { enabled: true, on_delete: erase, admin_group: platform }\n';
const PASSWORD = 'correct horse battery';

suite('provisioning', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: YAML });
  });
  after(() => stand.close());

  async function invite(email: string, role: string): Promise<string> {
    const made = (await (await stand.call('/organization/members', { email, role })).json()) as { link: string };
    return stand.url + made.link;
  }

  /** Opens the dashboard as a user that joins by a link. */
  async function join(email: string, role: string, width = 1280) {
    const opened = await stand.open({ isSignedIn: false, width });
    await opened.page.goto(await invite(email, role));
    await opened.page.getByLabel('Password').fill(PASSWORD);
    await opened.page.keyboard.press('Enter');
    await opened.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return opened;
  }

  async function push(token: string, method: string, path: string, body?: object): Promise<{ id: string }> {
    const response = await fetch(`${stand.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return text === '' ? { id: '' } : (JSON.parse(text) as { id: string });
  }

  test('is set up by an admin of the organization, shows what came and why not, maps groups and erases a person', async () => {
    const { page, context, problems } = await join('root@acme.example', 'org:admin');
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Provisioning/ })
      .click();
    await page.getByText('No token is valid, so that nothing can call.').waitFor();
    assert.equal(await page.getByLabel('Base URL', { exact: true }).textContent(), `${stand.url}/scim/v2`);
    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New token' });
    await form.getByRole('button', { name: 'Make token' }).click();
    await form.getByText('Fill in this field.').waitFor();
    await form.getByLabel('Name').fill('Entra ID');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Make token' }).click();
    const shown = page.getByRole('dialog', { name: 'The token' });
    const token = (await shown.getByLabel('Token', { exact: true }).textContent()) ?? '';
    assert.match(token, /^scim-[\w-]{43}$/);
    assert.deepEqual(await findWithAxe(page), []);
    await shown.getByRole('button', { name: 'I have it' }).click();
    await page.getByText('“Entra ID” has sent nothing yet.').waitFor();
    assert.ok(!(await page.content()).includes(token));

    const { id } = await push(token, 'POST', '/Users', { userName: 'mia@acme.example', schemas: [] });
    await push(token, 'POST', '/Users', { userName: 'mia@acme.example', schemas: [] });
    await push(token, 'POST', '/Groups', { displayName: 'lab \u202Egroup', schemas: [], members: [{ value: id }] });
    await stand.call('/workspaces', { name: 'Research', slug: 'research' });
    await page.reload();
    await page.getByText(/A request of the last day was refused: .*mia@acme\.example is taken/).waitFor();
    await page.getByText('Groups are pushed, and none is mapped to a workspace.').waitFor();
    assert.deepEqual(await findWithAxe(page), []);

    await page.getByRole('button', { name: 'Requests', exact: true }).click();
    await page.getByLabel('Filter requests').fill('is taken');
    await page.waitForURL(/q=/);
    await page.getByRole('gridcell', { name: '409', exact: true }).click();
    await page.getByRole('heading', { name: 'Why not' }).waitFor();
    await page.getByLabel('Details').getByText('Entra ID').waitFor();
    assert.equal(await page.getByRole('gridcell', { name: /^\d{3}$/ }).count(), 1);
    assert.deepEqual(await findWithAxe(page), []);

    await page.getByRole('button', { name: 'Groups', exact: true }).click();
    await page.getByRole('gridcell', { name: 'lab U+202Egroup' }).click();
    await page.getByRole('button', { name: 'Map to a workspace' }).click();
    const map = page.getByRole('dialog');
    await map.getByLabel('Workspace').selectOption({ label: 'Research' });
    assert.deepEqual(await findWithAxe(page), []);
    await map.getByRole('button', { name: 'Map', exact: true }).click();
    await page.getByRole('gridcell', { name: 'member of Research' }).waitFor();
    await page.getByLabel('Role in Research').selectOption('admin');
    await page.getByRole('gridcell', { name: 'admin of Research' }).waitFor();
    assert.deepEqual(await rolesIn('research'), ['admin']);
    await page.getByRole('button', { name: 'Delete the mapping to Research' }).click();
    await page.getByRole('dialog').getByText('Members that it alone made members leave the workspace.').waitFor();
    await page.getByLabel('Its members stay').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete mapping' }).click();
    await page.getByRole('gridcell', { name: 'members of nothing' }).waitFor();
    assert.deepEqual(await rolesIn('research'), ['admin']);

    await page.getByRole('button', { name: 'Users', exact: true }).click();
    await page.getByRole('gridcell', { name: 'mia@acme.example' }).click();
    await page.getByRole('button', { name: 'Erase' }).click();
    const erase = page.getByRole('dialog', { name: 'Erase a person' });
    await erase.getByText('The provider still has this user.').waitFor();
    assert.ok(await erase.getByRole('button', { name: 'Erase the person' }).isDisabled());
    await erase.getByLabel(/^Type/).fill('mia@acme.example');
    assert.deepEqual(await findWithAxe(page), []);
    await erase.getByRole('button', { name: 'Erase the person' }).click();
    await page.getByText('No user was pushed').waitFor();
    assert.deepEqual(await rolesIn('research'), []);

    await page.getByRole('button', { name: 'Status', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke Entra ID' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Entra ID');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete token' }).click();
    await page.getByText('No token is valid, so that nothing can call.').waitFor();
    assert.equal(
      (await fetch(`${stand.url}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } })).status,
      401,
    );
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('marks on People the users that it pushed, and leaves to the provider what it decides', async () => {
    const made = (await (await stand.call('/scim/tokens', { name: 'Okta' })).json()) as { readonly token: string };
    const pushed = { schemas: [], active: true };
    const { id } = await push(made.token, 'POST', '/Users', { ...pushed, userName: 'ida@acme.example' });
    await push(made.token, 'POST', '/Users', { ...pushed, userName: 'off@acme.example', active: false });
    await push(made.token, 'POST', '/Groups', { displayName: 'platform', schemas: [], members: [{ value: id }] });
    const { page, context, problems } = await join('eve@acme.example', 'org:admin');
    page.setDefaultTimeout(10_000);
    await visit(page, `${stand.url}/ui/people`);
    const row = (email: string) => page.getByRole('row').filter({ hasText: email });
    await row('ida@acme.example').getByText('provisioned').waitFor();
    await row('ida@acme.example').getByText('admin', { exact: true }).waitFor();
    assert.equal(await row('eve@acme.example').getByText('provisioned').count(), 0);
    await page.getByLabel('Filter people').fill('provisioned');
    await page.waitForURL(/q=/);
    assert.equal(await row('eve@acme.example').count(), 0);

    await row('ida@acme.example').click();
    const role = page.getByLabel('Role in the organization');
    await page.getByText('members of its group “platform” are admins').waitFor();
    assert.ok(await role.isDisabled());
    await page.getByText('by the identity provider, in 1 group').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await row('off@acme.example').click();
    await page.getByText('The identity provider disabled it. Make it active there.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Enable' }).isDisabled());
    await page.getByLabel('Filter people').fill('');
    await page.waitForURL((url) => !url.search.includes('q='));
    await row('eve@acme.example').click();
    await page.getByText('Disabled, its sessions').waitFor();
    assert.ok(await role.isEnabled());
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('is not there for members, and fits a narrow screen', async () => {
    const member = await join('bob@acme.example', 'org:member', 390);
    assert.equal(await member.page.getByRole('link', { name: /^Provisioning/ }).count(), 0);
    await visit(member.page, `${stand.url}/ui/provisioning`);
    await member.page.getByRole('alert').first().waitFor();
    assert.equal(await member.page.getByLabel('Base URL', { exact: true }).count(), 0);
    await member.context.close();
    const admin = await join('ann@acme.example', 'org:admin', 390);
    for (const tab of ['status', 'groups', 'users', 'requests']) {
      await visit(admin.page, `${stand.url}/ui/provisioning?tab=${tab}`);
      assert.deepEqual(await findWithAxe(admin.page), []);
      const width = await admin.page.evaluate<number>('document.querySelector("main").scrollWidth');
      assert.ok(width <= 390, `${tab} ${width}`);
    }
    await admin.context.close();
    assert.deepEqual(admin.problems, []);
  });

  async function rolesIn(workspace: string): Promise<readonly string[]> {
    const list = (await (await stand.call(`/workspaces/${workspace}/members`)).json()) as {
      data: { role: string }[];
    };
    return list.data.map(({ role }) => role);
  }
});

suite('provisioning that is off', { skip: CHROMIUM === undefined }, () => {
  test('says how it is turned on', async () => {
    const stand = await startStand(CHROMIUM ?? '');
    try {
      const { page } = await stand.open({ theme: 'light' });
      await visit(page, `${stand.url}/ui/provisioning`);
      await page.getByText('No identity provider pushes users here').waitFor();
      assert.match(
        (await page.getByLabel('Configuration', { exact: true }).textContent()) ?? '',
        /scim: \{ enabled: true \}/,
      );
      assert.deepEqual(await findWithAxe(page), []);
    } finally {
      await stand.close();
    }
  });
});
