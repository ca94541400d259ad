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

  test('sets a schedule, changes it, switches it off and deletes it', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/interns?peek=${await internId()}`);
    await page.getByRole('button', { name: 'New schedule' }).click();
    const form = page.getByRole('dialog', { name: 'New schedule' });
    await form.getByRole('button', { name: 'Make schedule' }).click();
    await form.getByText('Fill in this field.').first().waitFor();
    await form.getByLabel('Name').fill('morning');
    await form.getByLabel('Prompt').fill('Read the \u202Enews.');
    await form.getByLabel('As cron').fill('30 25 * * *');
    await form.getByLabel('Time zone').fill('Vienna');
    await form.getByRole('button', { name: 'Make schedule' }).click();
    await form.getByText('must be a time zone such as Europe/Vienna').first().waitFor();
    assert.equal(await form.getByLabel('As cron').getAttribute('aria-invalid'), 'true');
    await form.getByLabel('Time zone').fill('Europe/Vienna');
    await form.getByLabel('When').selectOption({ label: 'Mondays at 9:00' });
    assert.equal(await form.getByLabel('As cron').inputValue(), '0 9 * * mon');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Make schedule' }).click();
    await page.getByText(/^next in \d/).waitFor();
    await page.getByText('Read the U+202Enews.').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Change morning' }).click();
    const change = page.getByRole('dialog');
    await change.getByLabel('Make up for missed times, once').check();
    await change.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('makes up for missed times, once').waitFor();
    await page.getByRole('button', { name: 'Switch off morning' }).click();
    await page.getByRole('button', { name: 'Switch on morning' }).waitFor();
    await page.getByText('not due').waitFor();
    assert.deepEqual(await schedules(), [
      {
        id: 'morning',
        cron: '0 9 * * mon',
        tz: 'Europe/Vienna',
        prompt: 'Read the \u202Enews.',
        enabled: false,
        catch_up: 'once',
      },
    ]);
    await page.getByRole('button', { name: 'Delete morning' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('morning');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByText('None: a message to its chat alone begins a run.').waitFor();
    assert.deepEqual(await schedules(), []);
    await context.close();
    assert.deepEqual(problems, []);
  });

  async function schedules(): Promise<unknown> {
    const { data } = (await (await stand.call('/interns')).json()) as { data: { schedules: unknown }[] };
    return data[0]?.schedules;
  }

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
