import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const VERIFIER = 'v'.repeat(64);
const BACK = 'http://127.0.0.1:7777/callback';
const YAML = `
mcp_server:
  enabled: true
  oauth: true
  registration: true
  clients: [{ client_id: editor, name: Editor, redirect_uris: ["http://127.0.0.1/callback"] }]
`;

suite('the consent to a connection', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '', { yaml: YAML })));
  after(() => stand.close());

  function address(changes: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'editor',
      redirect_uri: BACK,
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${stand.url}/mcp`,
      state: 'a-state',
      ...changes,
    });
    return `${stand.url}/oauth/authorize?${query.toString()}`;
  }

  test('names the program and its limits, and gives it a code that it can use, which Settings ends', async () => {
    const { page, context, problems } = await stand.open();
    let returned: URL | undefined;
    // What the program would serve.
    await page.route(`${BACK}*`, (route) => {
      returned = new URL(route.request().url());
      return route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Back in the editor</h1>' });
    });
    await visit(page, address());
    await page.getByText('wants to use the tools of this gateway').waitFor();
    const text = (await page.getByRole('main').textContent()) ?? '';
    assert.match(text, /127\.0\.0\.1:7777 wants to use the tools of this gateway, as “Editor”/);
    assert.match(text, /any program on it can ask like this/);
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByLabel('Spend').check();
    await page.getByLabel('Limit in USD').fill('2');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Back in the editor' }).waitFor();
    assert.deepEqual([returned?.searchParams.get('state'), returned?.searchParams.get('iss')], ['a-state', stand.url]);
    const response = await fetch(`${stand.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: returned?.searchParams.get('code') ?? '',
        client_id: 'editor',
        redirect_uri: BACK,
        code_verifier: VERIFIER,
      }),
    });
    const token = (await response.json()) as { readonly scope: string; readonly access_token: string };
    assert.equal(response.status, 200);
    assert.deepEqual(token.scope.split(' ').toSorted(), ['mcp:read', 'mcp:spend']);
    await visit(page, `${stand.url}/ui/settings`);
    await page.getByText('Editor', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^End/ }).first().click();
    await page.getByText('No program is connected').waitFor();
    await context.close();
    // The page of the program is on another port, on purpose.
    assert.deepEqual(
      problems.filter((problem) => !problem.includes(BACK)),
      [],
    );
  });

  test('goes back with a refusal, and no code', async () => {
    const { page, context } = await stand.open({ width: 390, theme: 'light' });
    let returned: URL | undefined;
    await page.route(`${BACK}*`, (route) => {
      returned = new URL(route.request().url());
      return route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Refused</h1>' });
    });
    await visit(page, address());
    assert.deepEqual(await findWithAxe(page), []);
    const width = await page.evaluate<number>('document.querySelector("main").scrollWidth');
    assert.ok(width <= 390, String(width));
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Refused' }).waitFor();
    assert.deepEqual(
      [returned?.searchParams.get('error'), returned?.searchParams.get('code')],
      ['access_denied', null],
    );
    await context.close();
  });

  test('is shown after the sign-in, and in no frame of another page', async () => {
    const { page, context } = await stand.open({ isSignedIn: false });
    await page.goto(address());
    await page.getByLabel('Management key or API key').fill(stand.managementKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('wants to use the tools of this gateway').waitFor();
    await settle(page);
    const served = await fetch(`${stand.url}/ui/connect`);
    assert.match(served.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    await context.close();
  });

  test('is refused in a sentence for a program that may not come back to its address', async () => {
    const { page, context } = await stand.open();
    const query = new URL(address({ redirect_uri: 'https://elsewhere.example/back' })).search;
    await visit(page, `${stand.url}/ui/connect${query}`);
    await page.getByText('This request is refused').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Allow' }).count(), 0);
    assert.deepEqual(await findWithAxe(page), []);
    await context.close();
  });
});
