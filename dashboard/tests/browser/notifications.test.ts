import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

interface Receiver {
  readonly url: string;
  readonly bodies: string[];
  readonly close: () => void;
}

async function startReceiver(): Promise<Receiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(200).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { url: `http://127.0.0.1:${address.port}/hook`, bodies, close: () => void server.close() };
}

suite('notifications', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
    stand = await startStand(CHROMIUM ?? '', { yaml: 'notifications: { private_addresses: true }\n' });
  });
  after(async () => {
    await stand.close();
    receiver.close();
  });

  test('are set up, tried and switched off by hand', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/notifications`);
    await page.getByText('Operators are notified of nothing').waitFor();
    await page
      .getByRole('main')
      .getByRole('button', { name: /^New channel/ })
      .first()
      .click();
    const form = page.getByRole('dialog', { name: 'New channel' });
    await form.getByRole('button', { name: 'Make channel' }).click();
    await form.getByText('Fill in this field.').first().waitFor();
    await form.getByLabel('Name').fill('On call');
    await form.getByLabel('Address', { exact: true }).fill('nowhere');
    await form.getByRole('button', { name: 'Make channel' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Address', { exact: true }).fill(receiver.url);
    await form.getByLabel('Quiet hours').check();
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Make channel' }).click();
    const secret = page.getByRole('dialog', { name: 'The secret of the webhook' });
    assert.match((await secret.textContent()) ?? '', /whsec_/);
    await page.keyboard.press('Escape');
    await page.getByRole('gridcell', { name: 'On call' }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('it was taken').waitFor();
    assert.match(receiver.bodies[0] ?? '', /notification\.test/);
    await page.getByText('22:00 to 07:00').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('button', { name: 'Switch on' }).waitFor();
    const [channel] = ((await (await stand.call('/notifications/channels')).json()) as { data: { enabled: boolean }[] })
      .data;
    assert.equal(channel?.enabled, false);
    await context.close();
    // The refusal of the wrong address.
    assert.deepEqual(
      problems.filter((problem) => !/400/.test(problem)),
      [],
    );
  });
});
