import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('signing in', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('shows one sentence for a wrong key, and keeps the field', async () => {
    const { page, context } = await stand.open({ isSignedIn: false });
    await page.goto(`${stand.url}/`);
    await page.getByLabel('Management key or API key').fill('mgw-mgmt-wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The key or link is not valid.').waitFor();
    assert.equal(await page.getByLabel('Management key or API key').getAttribute('aria-invalid'), 'true');
    await context.close();
  });

  test('leaves the management key in no storage, no page and no later request', async () => {
    const { page, context } = await stand.open({ isSignedIn: false });
    await page.goto(`${stand.url}/`);
    await page.getByLabel('Management key or API key').fill(stand.managementKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const later: string[] = [];
    page.on('request', (request) =>
      later.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ''}`),
    );
    page.on(
      'response',
      (response) =>
        void response.text().then(
          (text) => later.push(text),
          () => undefined,
        ),
    );
    await visit(page, `${stand.url}/ui/keys`);
    await visit(page, `${stand.url}/ui/settings`);
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML])',
    );
    assert.ok(later.length > 5, 'there is something to look at');
    assert.ok(![...later, String(kept)].some((text) => text.includes(stand.managementKey)));
    await context.close();
  });

  test('ends with the session: a sign-out ends other tabs, and the old halves open nothing', async () => {
    const { page, context } = await stand.open();
    const other = await context.newPage();
    await visit(other, `${stand.url}/ui/keys`);
    const token = await page.evaluate("localStorage.getItem('gateway.console-token')");
    const [cookie] = await context.cookies(`${stand.url}/ui`);
    assert.equal(cookie?.httpOnly, true);
    await visit(page, `${stand.url}/ui/settings`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    const response = await fetch(`${stand.url}/ui/api/v1/keys`, {
      headers: {
        Cookie: `${cookie?.name}=${cookie?.value}`,
        'X-Console-Token': String(token),
        'Sec-Fetch-Site': 'same-origin',
      },
    });
    assert.equal(response.status, 401);
    await context.close();
  });

  test('opens over the page when a session ends elsewhere, and goes on there', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/keys`);
    await page.evaluate("localStorage.setItem('gateway.console-token', 'gone')");
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await page.getByLabel('Management key or API key').fill(stand.managementKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    await settle(page);
    await context.close();
  });

  test('shows a member what its key may use, and nothing of the administration', async () => {
    const { page, context } = await stand.open({ isSignedIn: false });
    await page.goto(`${stand.url}/`);
    await page.getByLabel('Management key or API key').fill(stand.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const names = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
    assert.ok(names.some((name) => name.startsWith('Playground')));
    assert.ok(!names.some((name) => /^(?:Keys|Money|Audit|Providers)/.test(name)), names.join(', '));
    await context.close();
  });
});

suite('the link of the first start', { skip: CHROMIUM === undefined }, () => {
  test('signs in once, is in no request, and is refused the second time', async () => {
    const stand = await startStand(CHROMIUM ?? '', { withKeys: false });
    try {
      const link = /http:\/\/127\.0\.0\.1:\d+\/ui\/signin#t=([\w-]+)/.exec(stand.output());
      assert.ok(link, stand.output());
      const [address, secret = ''] = link;
      const { page, context } = await stand.open({ isSignedIn: false });
      const lines: string[] = [];
      page.on('request', (request) => lines.push(request.url()));
      await page.goto(address);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      assert.ok(!lines.some((line) => line.includes(secret)));
      assert.ok(!page.url().includes(secret));
      await context.close();
      const second = await stand.open({ isSignedIn: false });
      await second.page.goto(address);
      await second.page.getByText('The key or link is not valid.').waitFor();
      await second.context.close();
    } finally {
      await stand.close();
    }
  });
});
