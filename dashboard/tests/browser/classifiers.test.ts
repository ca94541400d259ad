import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('classifiers', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
    await stand.call('/keys', { name: 'Payer' });
  });
  after(() => stand.close());

  test('are made of a template, switched off, and deleted after their name is typed', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/classifiers`);
    await page.getByText('No conversation is sorted').waitFor();
    await page
      .getByRole('main')
      .getByRole('button', { name: /^New classifier/ })
      .first()
      .click();
    const form = page.getByRole('dialog', { name: 'New classifier' });
    await form.getByLabel('Name').fill('Work');
    await form.getByLabel('Model that reads').fill('acme/none');
    await form.getByLabel('Sorts by').selectOption('engineering_work');
    await form.getByLabel('Share of conversations').fill('25');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Make classifier' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Model that reads').fill('sandbox/echo');
    await form.getByRole('button', { name: 'Make classifier' }).click();
    await page.getByRole('gridcell', { name: 'Work', exact: true }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('25 % of conversations').waitFor();
    await details
      .getByText(/bug_fix/)
      .first()
      .waitFor();
    await details.getByText('Payer', { exact: true }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await details.getByRole('button', { name: 'Switch off' }).click();
    await details.getByRole('button', { name: 'Switch on' }).waitFor();
    const [classifier] = ((await (await stand.call('/classifiers')).json()) as { data: { enabled: boolean }[] }).data;
    assert.equal(classifier?.enabled, false);
    await details.getByRole('button', { name: 'Delete the classifier' }).click();
    await page.getByLabel(/Type/).fill('Work');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete classifier' }).click();
    await page.getByText('No conversation is sorted').waitFor();
    await context.close();
    // The refusal of the unknown model.
    assert.deepEqual(
      problems.filter((problem) => !/40[04]/.test(problem)),
      [],
    );
  });
});
