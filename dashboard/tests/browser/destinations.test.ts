import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

interface Receiver {
  readonly url: string;
  /** The header `x-secret` of each call. */
  readonly secrets: (string | undefined)[];
  readonly close: () => void;
}

async function startReceiver(): Promise<Receiver> {
  const secrets: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const secret = request.headers['x-secret'];
    secrets.push(typeof secret === 'string' ? secret : undefined);
    request.resume().on('end', () => response.writeHead(200).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { url: `http://127.0.0.1:${address.port}/hook`, secrets, close: () => void server.close() };
}

suite('destinations', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let first: Receiver;
  let second: Receiver;
  before(async () => {
    [first, second] = [await startReceiver(), await startReceiver()];
    stand = await startStand(CHROMIUM ?? '', { yaml: 'observability: { private_destinations: true }\n' });
  });
  after(async () => {
    await stand.close();
    first.close();
    second.close();
  });

  test('are made of every kind that the gateway knows, by the form of the kind', async () => {
    const { page, context, problems } = await stand.open();
    const known = (await (await stand.call('/observability/destination-types')).json()) as {
      readonly data: readonly { readonly label: string }[];
    };
    await visit(page, `${stand.url}/ui/destinations?new=true`);
    const dialog = page.getByRole('dialog', { name: 'New destination' });
    const labels = await dialog.getByLabel('Kind').locator('option').allTextContents();
    assert.deepEqual(
      labels,
      known.data.map(({ label }) => label),
    );
    assert.ok(labels.length > 15);
    assert.deepEqual(await findWithAxe(page), []);
    await dialog.getByLabel('Kind').focus();
    await dialog.getByLabel('Kind').selectOption('langfuse');
    await dialog.getByLabel('Secret key').waitFor();
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'SELECT');
    await dialog.getByRole('button', { name: 'Make destination' }).click();
    await dialog.getByText('Fill in this field.').first().waitFor();
    assert.equal(await dialog.getByLabel('Secret key').getAttribute('type'), 'password');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const button = page
      .getByRole('main')
      .getByRole('button', { name: /^New destination/ })
      .first();
    await button.click();
    await dialog.getByLabel('Kind').selectOption('webhook');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^New destination/);
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('are called before they are kept, and take their secrets again for another address', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/destinations?new=true`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('webhook');
    await dialog.getByLabel('Name', { exact: true }).fill('Our hook');
    await dialog.getByLabel('URL').fill(first.url);
    await dialog.getByLabel('Headers').fill('X-Secret: first secret');
    await dialog.getByText('The request that this sends').click();
    assert.ok(!((await dialog.locator('pre').textContent()) ?? '').includes('first secret'));
    await dialog.getByRole('button', { name: 'Make destination' }).click();
    await page.getByRole('gridcell', { name: 'Our hook' }).click();
    assert.deepEqual(first.secrets, ['first secret']);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByLabel('URL').fill(second.url);
    await dialog.getByText('The address leads to another origin').waitFor();
    await dialog.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByText('Fill in this field.').waitFor();
    await dialog.getByLabel('Headers').fill('X-Secret: second secret');
    await dialog.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual([first.secrets, second.secrets], [['first secret'], ['second secret']]);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('it was taken').waitFor();
    assert.deepEqual(second.secrets, ['second secret', 'second secret']);
    await context.close();
  });
});
