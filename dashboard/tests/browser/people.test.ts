import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startIdentityProvider, type IdentityProvider } from '../../../tests/support/http/identity-provider.ts';
import { findChromium, findWithAxe, settle, startStand, visit, type Stand, type Visit } from './support.ts';

const CHROMIUM = findChromium();
const PASSWORD = 'correct horse battery';

suite('people', { skip: CHROMIUM === undefined }, () => {
  let provider: IdentityProvider;
  let stand: Stand;
  before(async () => {
    provider = await startIdentityProvider('http://127.0.0.1/ui/signin/oidc');
    const { issuer, clientId, clientSecret } = provider;
    const oidc = `{ issuer: "${issuer}", client_id: ${clientId}, client_secret: "${clientSecret}", name: Acme ID, create_users: true }`;
    stand = await startStand(CHROMIUM ?? '', { yaml: `organization: { enabled: true, name: Acme, oidc: ${oidc} }` });
  });
  after(() => Promise.all([stand.close(), provider.close()]));

  async function invite(email: string, role: string): Promise<string> {
    const made = (await (await stand.call('/organization/members', { email, role })).json()) as { link: string };
    return stand.url + made.link;
  }

  test('join by a link, invite others, and are disabled', async () => {
    const { page, context, problems } = await stand.open({ isSignedIn: false });
    const first = await invite('ann@acme.example', 'org:admin');
    await page.goto(first);
    await page.getByRole('heading', { name: 'Join Acme' }).waitFor();
    assert.ok(!page.url().includes('t='), page.url());
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByLabel('First name').fill('Ann');
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByText('must have at least 12 characters').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await visit(page, `${stand.url}/ui/people`);
    await page.keyboard.press('n');
    await page.getByLabel('Mail address').fill('bob@acme.example');
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Make the link' }).click();
    const link = await page.getByLabel('Link', { exact: true }).textContent();
    await page.getByRole('button', { name: 'I have it' }).click();
    const bob = await stand.open({ isSignedIn: false, width: 390, theme: 'light' });
    await bob.page.goto(link ?? '');
    await bob.page.getByLabel('Password').fill(PASSWORD);
    await bob.page.getByRole('button', { name: 'Join' }).click();
    await bob.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await visit(page, `${stand.url}/ui/people`);
    await page.getByRole('gridcell', { name: 'bob@acme.example' }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await visit(bob.page, `${stand.url}/ui/keys`);
    await bob.page.getByRole('heading', { name: 'Sign in to Acme' }).waitFor();
    assert.deepEqual([problems, bob.problems], [[], []]);
    await page.goto(first);
    await page.reload();
    await page.getByRole('heading', { name: 'This link opens nothing' }).waitFor();
    await Promise.all([context.close(), bob.context.close()]);
  });

  test('sign in with a password, see what is theirs, and change the password', async () => {
    const joined = await stand.open({ isSignedIn: false });
    await joined.page.goto(await invite('cy@acme.example', 'org:member'));
    await joined.page.getByLabel('Password').fill(PASSWORD);
    await joined.page.keyboard.press('Enter');
    await joined.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const { page, context, problems } = await stand.open({ isSignedIn: false, theme: 'light' });
    await page.goto(`${stand.url}/ui/keys`);
    await page.getByLabel('Mail address').fill('cy@acme.example');
    await page.getByLabel('Password').fill('wrong password');
    await page.keyboard.press('Enter');
    await page.getByText('The address or the password is not valid.').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await settle(page);
    const names = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
    assert.ok(
      names.some((name) => name.startsWith('Workspaces')),
      names.join(', '),
    );
    assert.ok(!names.some((name) => /^(?:People|Money|Audit|Providers|Health)/.test(name)), names.join(', '));
    for (const path of ['/ui/keys', '/ui/workspaces', '/ui/requests', '/ui/analytics', '/']) {
      await visit(page, stand.url + path);
      assert.deepEqual(await page.getByRole('alert').allTextContents(), [], path);
    }
    await visit(page, `${stand.url}/ui/settings`);
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByLabel('New password').fill('another long password');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('It is changed.').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await visit(joined.page, `${stand.url}/ui/keys`);
    await joined.page.getByRole('heading', { name: /Sign in/ }).waitFor();
    assert.deepEqual(problems, []);
    await Promise.all([context.close(), joined.context.close()]);
  });

  test('see the guardrails and destinations of workspaces that they administer, and operators the keys of all', async () => {
    const team = (await (await stand.call('/workspaces', { name: 'Team A', slug: 'team-a' })).json()) as {
      data: { id: string };
    };
    const workspace_id = team.data.id;
    await stand.call('/guardrails', { name: 'Of the team', workspace_id });
    await stand.call('/guardrails', { name: 'Of the default one' });
    const config = { url: 'https://hooks.example/team' };
    const destination = { type: 'webhook', name: 'Hook of the team', config, skip_test: true, workspace_id };
    assert.equal((await stand.call('/observability/destinations', destination)).status, 201);
    await stand.call('/keys', { name: 'Key of the team', workspace_id });
    const invited = { email: 'eve@acme.example', role: 'org:member', workspaces: [{ workspace_id, role: 'admin' }] };
    const { link } = (await (await stand.call('/organization/members', invited)).json()) as { link: string };
    const { page, context, problems } = await stand.open({ isSignedIn: false });
    await page.goto(stand.url + link);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: /^Guardrails/ }).click();
    await page.getByRole('gridcell', { name: 'Of the team' }).click();
    await page.getByText('What for').waitFor();
    assert.equal(await page.getByText('Of the default one').count(), 0);
    // What operators alone may do is not offered.
    assert.equal(await page.getByRole('button', { name: /^(?:New guardrail|Delete)/ }).count(), 0);
    await pages.getByRole('link', { name: /^Destinations/ }).click();
    await page.getByRole('gridcell', { name: 'Hook of the team' }).waitFor();
    await page
      .getByRole('button', { name: /^New destination/ })
      .first()
      .click();
    await page.getByRole('dialog').getByLabel('Kind').waitFor();
    await context.close();
    assert.deepEqual(problems, []);
    const session = await operator();
    await visit(session.page, `${stand.url}/ui/keys`);
    await session.page.getByRole('gridcell', { name: 'Key of the team' }).waitFor();
    await visit(session.page, `${stand.url}/ui/guardrails`);
    await session.page.getByLabel('Workspace').selectOption({ label: 'workspace Team A' });
    await session.page.getByRole('gridcell', { name: 'Of the team' }).waitFor();
    await session.context.close();
  });

  /** Where users sign in, keys are behind a button. */
  async function operator(): Promise<Visit> {
    const opened = await stand.open({ isSignedIn: false });
    await opened.page.goto(stand.url);
    await opened.page.getByRole('button', { name: 'Use a key' }).click();
    await opened.page.getByLabel('Management key or API key').fill(stand.managementKey);
    await opened.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await opened.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return opened;
  }

  test('sign in with an identity provider, and come back to the page where they began', async () => {
    provider.people.set('somebody', { email: 'dee@acme.example', email_verified: true, given_name: 'Dee' });
    const { page, context } = await stand.open({ isSignedIn: false });
    await page.goto(`${stand.url}/ui/models?q=echo`);
    await page.getByRole('button', { name: 'Sign in with Acme ID' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    const url = new URL(page.url());
    assert.deepEqual([url.pathname, url.search], ['/ui/models', '?q=echo']);
    const kept = await page.evaluate('JSON.stringify({ ...sessionStorage })');
    assert.equal(kept, '{}');
    await context.close();
  });
});
