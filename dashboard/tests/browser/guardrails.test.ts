import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('guardrails', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('are tried before they are saved, and show what they found', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/guardrails?new=true`);
    await page.getByLabel('Name', { exact: true }).fill('No projects');
    await page.getByLabel('A pattern of yours').fill(String.raw`project-\d+`);
    await page.getByText('Try these rules before they are saved').click();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('redacted', { exact: true }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Make guardrail' }).click();
    await page.getByRole('gridcell', { name: /No projects/ }).waitFor();

    const { data } = (await (await stand.call('/guardrails')).json()) as { readonly data: readonly { id: string }[] };
    const { data: keys } = (await (await stand.call('/keys', { name: 'filtered' })).json()) as {
      data: { hash: string };
    };
    const id = data[0]?.id ?? '';
    await stand.call(`/guardrails/${id}/assignments/keys`, { key_hashes: [keys.hash] });
    await page.goto(`${stand.url}/ui/guardrails?peek=${id}`);
    await page.getByText('Nothing was found in 7 days.').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });
});
