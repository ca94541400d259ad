import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('interns', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: 'interns: { enabled: true }\n' });
  });
  after(() => stand.close());

  async function internId(): Promise<string> {
    const list = (await (await stand.call('/interns')).json()) as { readonly data: readonly { readonly id: string }[] };
    return list.data[0]?.id ?? '';
  }

  /** Begins a run, and returns once it waits. */
  async function ask(content: string): Promise<string> {
    const body = { stream: true, messages: [{ role: 'user', content }] };
    const response = await stand.call(`/interns/${await internId()}/chat/completions`, body, stand.apiKey);
    assert.match(await response.text(), /service\.provide_input/);
    return response.headers.get('x-run-id') ?? '';
  }

  test('creates one, and takes decisions on what its runs wait for', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/interns`);
    await page.getByText('There is no intern here').waitFor();
    await page.getByRole('button', { name: 'New intern' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New intern' });
    await dialog.getByLabel('Name').fill('Librarian');
    await dialog.getByLabel('Model').fill('sandbox/tools');
    await dialog.getByLabel('Instructions').fill('You keep our notes in order.');
    await dialog.getByLabel('Tools').fill('service:web_fetch');
    assert.deepEqual(await findWithAxe(page), []);
    await dialog.getByRole('button', { name: 'Create and provision' }).click();
    await page.getByRole('gridcell', { name: 'Librarian' }).waitFor();
    await page.getByRole('gridcell', { name: 'running' }).waitFor();

    const first = await ask('fetch \u202Esomething');
    await visit(page, `${stand.url}/ui/interns?tab=waiting`);
    await page.getByText('is to run with this input').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByLabel('Reason, for the model (optional)').fill('not this page');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Nothing waits').waitFor();
    await visit(page, `${stand.url}/ui/interns?peek=${await internId()}`);
    await page.getByRole('button', { name: new RegExp(first.slice(0, 8)) }).click();
    await page.getByText('denied by the user: not this page').first().waitFor();
    await page.getByLabel('Details').getByText('done').first().waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('stops a run that waits, and shows it on a narrow screen', async () => {
    const run = await ask('fetch it');
    const { page, context, problems } = await stand.open({ width: 390, theme: 'dark' });
    await visit(page, `${stand.url}/ui/interns?peek=${await internId()}&run=${run}`);
    await page.getByText('waiting input').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Stop the run' }).click();
    await page.getByText('cancelled').waitFor();
    await visit(page, `${stand.url}/ui/interns?tab=waiting`);
    await page.getByText('Nothing waits').waitFor();
    const width = await page.evaluate<number>('document.querySelector("main").scrollWidth');
    assert.ok(width <= 390, String(width));
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('suspends one, and deletes it after its name is typed', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/interns?peek=${await internId()}`);
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('gridcell', { name: 'stopped' }).waitFor();
    await page.getByRole('button', { name: 'Delete the intern' }).click();
    await page.getByLabel(/Type/).fill('Librarian');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete intern' }).click();
    await page.getByText('There is no intern here').waitFor();
    await context.close();
    assert.deepEqual(problems, []);
  });
});
