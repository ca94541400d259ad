import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const PAGES = [
  '/',
  '/ui/playground',
  '/ui/requests',
  '/ui/analytics',
  '/ui/models',
  '/ui/models/sandbox/echo',
  '/ui/routing?model=sandbox/echo',
  '/ui/evaluations',
  '/ui/datasets',
  '/ui/datasets?tab=models',
  '/ui/classifiers',
  '/ui/keys',
  '/ui/money',
  '/ui/money?tab=budgets',
  '/ui/providers?state=all',
  '/ui/guardrails',
  '/ui/presets',
  '/ui/workspaces',
  '/ui/people',
  '/ui/provisioning',
  '/ui/tools',
  '/ui/mcp',
  '/ui/mcp?tab=connections',
  '/ui/vault',
  '/ui/containers',
  '/ui/vault?tab=releases',
  '/ui/files',
  '/ui/clips',
  '/ui/responses',
  '/ui/destinations',
  '/ui/notifications',
  '/ui/notifications?tab=sent',
  '/ui/jobs',
  '/ui/audit',
  '/ui/health',
  '/ui/settings',
  '/ui/settings?tab=configuration',
  '/ui/money?tab=ledger',
  '/ui/money?tab=reconcile',
  '/ui/money?tab=saved',
  '/ui/routing?tab=health',
  '/ui/routing?tab=routers',
  '/ui/start',
  '/ui/authorize?callback_url=https://editor.example/back&code_challenge=x',
  '/ui/nothing',
];

/** Pages whose content needs no read: forms, and what a session knows of itself. */
const QUIET: ReadonlySet<string> = new Set([
  '/ui/playground',
  '/ui/settings',
  '/ui/money?tab=reconcile',
  '/ui/start',
  '/ui/authorize?callback_url=https://editor.example/back&code_challenge=x',
  '/ui/nothing',
]);

/** A model whose facts have sources: those of the sandbox have none. */
const YAML = `
providers:
  alpha: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: a }
models:
  acme/one: { name: Acme One, context_length: 8000, endpoints: [{ provider: alpha, model: one, price: { prompt: 0.1, completion: 0.2 } }] }
`;

suite('every page', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: YAML });
    for (const text of ['Hello', 'Hello again'])
      await stand.call(
        '/chat/completions',
        { model: 'sandbox/echo', messages: [{ role: 'user', content: text }] },
        stand.apiKey,
      );
    await stand.call('/guardrails', {
      name: 'No addresses',
      content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    });
  });
  after(() => stand.close());

  for (const theme of ['dark', 'light'] as const)
    test(`has nothing that axe finds, no error, and no call of another host: ${theme}`, async () => {
      const { page, context, problems } = await stand.open({ theme });
      const found: string[] = [];
      for (const address of PAGES) {
        await visit(page, `${stand.url}${address}`);
        found.push(...(await findWithAxe(page)).map((finding) => `${address}: ${finding}`));
      }
      assert.deepEqual(found, []);
      assert.deepEqual(problems, []);
      await context.close();
    });

  test('has nothing that axe finds, and a word of what is wrong, where no read gets a response', async () => {
    const { page, context } = await stand.open({ theme: 'light' });
    const body = { error: { code: 500, message: 'The database is away.', metadata: { error_type: 'server_error' } } };
    for (const reads of ['v1/**', 'connections'])
      await page.route(`**/ui/api/${reads}`, (route) => route.fulfill({ status: 500, json: body }));
    const found: string[] = [];
    for (const address of PAGES) {
      await visit(page, `${stand.url}${address}`);
      found.push(...(await findWithAxe(page)).map((finding) => `${address}: ${finding}`));
      const text = (await page.getByRole('main').textContent()) ?? '';
      if (!QUIET.has(address) && !text.includes('The database is away.')) found.push(`${address}: says nothing`);
    }
    assert.deepEqual(found, []);
    await context.close();
  });

  test('is readable on 390 pixels: nothing but grids and tables scrolls sideways', async () => {
    const { page, context } = await stand.open({ width: 390 });
    const wide: string[] = [];
    for (const address of PAGES) {
      await visit(page, `${stand.url}${address}`);
      const widths = await page.evaluate<readonly number[]>(
        '[document.scrollingElement.scrollWidth, document.querySelector("main").scrollWidth]',
      );
      if (widths.some((width) => width > 390)) wide.push(`${address}: ${widths.join(', ')}`);
    }
    assert.deepEqual(wide, []);
    await context.close();
  });

  test('shows on 390 pixels where each fact about a model comes from', async () => {
    const { page, context, problems } = await stand.open({ width: 390, theme: 'light' });
    await visit(page, `${stand.url}/ui/models/acme/one`);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('columnheader', { name: 'As of' }).first().waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const width = await page.evaluate<number>('document.querySelector("main").scrollWidth');
    assert.ok(width <= 390, String(width));
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('has a canvas only with a sentence, a cursor for the keyboard and a table', async () => {
    const { page, context } = await stand.open();
    const chart = page.getByRole('img', { name: /Requests, last 24 h: requests 2 in all/ });
    await chart.focus();
    await page.keyboard.press('End');
    await page
      .getByText(/UTC|requests 2/)
      .first()
      .waitFor();
    assert.match((await page.locator('[aria-live]').allTextContents()).join(' '), /requests \d+, errors \d+/);
    await page.getByRole('button', { name: 'as table' }).first().click();
    await page.getByRole('columnheader', { name: 'requests' }).waitFor();
    await context.close();
  });

  test('lets no string become HTML, and has no other policy than ours', async () => {
    const { page, context } = await stand.open();
    for (const address of ['/', '/ui/playground', '/ui/keys', '/ui/analytics']) {
      await visit(page, `${stand.url}${address}`);
      const thrown = await page.evaluate(`[
        () => (document.createElement('div').innerHTML = 'x'),
        () => (document.createElement('iframe').srcdoc = 'x'),
        () => trustedTypes.createPolicy('other', {}),
      ].map((act) => { try { act(); return 'done'; } catch (error) { return error.name; } })`);
      assert.deepEqual(thrown, ['TypeError', 'TypeError', 'TypeError'], address);
    }
    await context.close();
  });
});
