import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const SERVER = fileURLToPath(new URL('../../../tests/support/mcp/stdio-server.ts', import.meta.url));

suite('tools', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    const yaml = `mcp_servers:\n  local: { command: '${process.execPath}', args: ['${SERVER}'] }\n`;
    stand = await startStand(CHROMIUM ?? '', { yaml });
  });
  after(() => stand.close());

  test('of an MCP server are called by hand, which leaves an audit event', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/tools`);
    await page.getByText('local', { exact: true }).click();
    await page.getByRole('button', { name: 'Call echo', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Call echo of local' });
    await dialog.getByLabel('Arguments, as JSON').fill('{"words": "by hand"}');
    assert.deepEqual(await findWithAxe(page), []);
    await dialog.getByRole('button', { name: 'Call', exact: true }).click();
    await dialog.getByText('the tool responded').waitFor();
    assert.match((await dialog.getByLabel('What a model would read', { exact: true }).textContent()) ?? '', /by hand/);
    const audit = (await (await stand.call('/audit?action=callMcpTool')).json()) as { readonly total_count: number };
    assert.equal(audit.total_count, 1);
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('of the gateway and its plugins are listed with their options', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/tools?q=web_fetch`);
    await page.getByText('service:web_fetch').click();
    await page.getByLabel('Options of service:web_fetch, as JSON Schema', { exact: true }).waitFor();
    await context.close();
  });
});
