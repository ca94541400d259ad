import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand, type Visit } from './support.ts';

const CHROMIUM = findChromium();

suite('kept responses', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: 'responses: { store: database, background: true }\n' });
  });
  after(() => stand.close());

  const create = async (body: object): Promise<string> => {
    const response = await stand.call('/responses', { model: 'sandbox/echo', ...body }, stand.apiKey);
    const { id } = (await response.json()) as { id: string };
    assert.match(id, /^resp_/);
    return id;
  };
  const signInWithKey = async (): Promise<Visit> => {
    const visited = await stand.open({ isSignedIn: false, theme: 'light', width: 390 });
    await visited.page.goto(`${stand.url}/`);
    await visited.page.getByLabel('Management key or API key').fill(stand.apiKey);
    await visited.page.getByRole('button', { name: 'Sign in' }).click();
    await visited.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return visited;
  };

  test('are listed for operators without the content of other keys, and are deleted', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/responses`);
    await page.getByText('No response is kept').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const id = await create({ input: 'the blue door' });
    await visit(page, `${stand.url}/ui/responses`);
    await page.getByRole('grid', { name: 'Responses' }).getByRole('gridcell', { name: id, exact: true }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText(/recorded in the audit log/).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await details.getByRole('button', { name: 'Read it' }).click();
    await details.getByText(/Only the key that sent its request may read it/).waitFor();
    assert.ok(!(await page.content()).includes('the blue door'));
    await details.getByRole('button', { name: 'Delete the response' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill(id.slice(-6));
    await page.getByRole('dialog').getByRole('button', { name: 'Delete response' }).click();
    await page.getByText('No response is kept').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('are read by their key with their items, and what continues one says so', async () => {
    const first = await create({ input: 'the green door' });
    const next = await create({ input: 'and the red one', previous_response_id: first });
    const { page, context, problems } = await signInWithKey();
    await visit(page, `${stand.url}/ui/responses?peek=${next}`);
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('Continues').waitFor();
    await details.getByRole('button', { name: 'Read it' }).click();
    await details.getByText('Items of the input (3)').waitFor();
    assert.match((await details.textContent()) ?? '', /the green door.*and the red one/s);
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    const audit = await fetch(`${stand.url}/v1/audit?action=readResponse`, {
      headers: { authorization: `Bearer ${stand.managementKey}` },
    });
    const { data } = (await audit.json()) as { data: readonly { subject: string }[] };
    assert.deepEqual(
      data.map(({ subject }) => subject),
      [`/responses/${next}`],
    );
    await context.close();
  });

  test('show what runs in the background, and stop it', async () => {
    const id = await create({ model: 'sandbox/long', input: 'tokens=100000 every=50', background: true });
    const { page, context, problems } = await stand.open({ theme: 'light' });
    await visit(page, `${stand.url}/ui/responses?peek=${id}`);
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('began once').waitFor();
    await details.getByText('in progress').waitFor();
    await details.getByRole('button', { name: 'Cancel the response' }).click();
    await details.getByText('cancelled', { exact: true }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });
});
