import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const VERIFIER = 'v'.repeat(64);
const BACK = 'http://127.0.0.1:7777/callback';
const YAML = `
mcp_server:
  enabled: true
  oauth: true
  tools: [list-models, send-message]
  clients: [{ client_id: editor, name: "Edi\u202Etor", redirect_uris: ["http://127.0.0.1/callback"] }]
`;

suite('the MCP server', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '', { yaml: YAML })));
  after(() => stand.close());

  test('shows what is on and where it stands, settings that a client takes, and programs', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/mcp`);
    await page.getByText('gateway.yaml:3').waitFor();
    assert.equal(await page.getByLabel('Address', { exact: true }).textContent(), `${stand.url}/mcp`);
    await page.getByText('send-message: is charged').waitFor();
    assert.equal(await page.getByText('generate-image').count(), 0);
    await page.getByText('EdiU+202Etor').waitFor();
    const settings = page.getByLabel('Settings of the program', { exact: true });
    assert.match((await settings.textContent()) ?? '', /claude mcp add --transport http gateway http/);
    await page.getByRole('button', { name: 'VS Code' }).click();
    const json = ((await settings.textContent()) ?? '').replace(/^.*\n/, '');
    assert.deepEqual(JSON.parse(json), { servers: { gateway: { type: 'http', url: `${stand.url}/mcp` } } });
    assert.match(page.url(), /client=vscode/);
    assert.deepEqual(await findWithAxe(page), []);
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('lists programs with tokens, and ends one of them', async () => {
    const { page, context, problems } = await stand.open({ theme: 'light', width: 390 });
    await visit(page, `${stand.url}/ui/mcp?tab=connections`);
    await page.getByText('No program is connected').waitFor();
    const token = await connect();
    await page.reload();
    await page.getByRole('gridcell', { name: 'EdiU+202Etor' }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('none: anything can call itself so').waitFor();
    await details.getByText('an operator').waitFor();
    await details.getByText('mcp:read').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    assert.equal(await callWith(token), 200);
    await details.getByRole('button', { name: 'End' }).click();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await page.getByText('No program is connected').waitFor();
    assert.equal(await callWith(token), 401);
    await context.close();
    assert.deepEqual(problems, []);
  });

  async function callWith(token: string): Promise<number> {
    const { status } = await fetch(`${stand.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    return status;
  }

  /** Agrees for the editor, in a browser of its own. @returns its token */
  async function connect(): Promise<string> {
    const { page, context } = await stand.open();
    let returned: URL | undefined;
    await page.route(`${BACK}*`, (route) => {
      returned = new URL(route.request().url());
      return route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Back in the editor</h1>' });
    });
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'editor',
      redirect_uri: BACK,
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${stand.url}/mcp`,
      state: 'a-state',
    });
    await visit(page, `${stand.url}/oauth/authorize?${query.toString()}`);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Back in the editor' }).waitFor();
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
    await context.close();
    return ((await response.json()) as { access_token: string }).access_token;
  }
});

suite('the MCP server that is off', { skip: CHROMIUM === undefined }, () => {
  test('says how it is turned on', async () => {
    const stand = await startStand(CHROMIUM ?? '');
    try {
      const { page } = await stand.open({ width: 390 });
      await visit(page, `${stand.url}/ui/mcp`);
      assert.equal(
        await page.getByLabel('With keys alone', { exact: true }).textContent(),
        'mcp_server: { enabled: true }',
      );
      assert.equal(await page.getByLabel('Address', { exact: true }).count(), 0);
      assert.deepEqual(await findWithAxe(page), []);
      writeFileSync(path.join(stand.dataDir, 'gateway.yaml'), 'mcp_server: { enabled: true }\n');
      await page.getByText('It was changed on the disk').waitFor();
      await page.getByRole('button', { name: 'Connections' }).click();
      await page.getByText('Programs connect with API keys alone').waitFor();
    } finally {
      await stand.close();
    }
  });
});
