import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('evaluations', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
    await stand.call('/keys', { name: 'Benchmarks' });
  });
  after(() => stand.close());

  test('are begun with a file, followed to their end, and say how sure they are', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/evaluations`);
    await page.getByText('No model was tried on your questions').waitFor();
    await page
      .getByRole('main')
      .getByRole('button', { name: /^New run/ })
      .first()
      .click();
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByRole('button', { name: 'Begin' }).click();
    await form.getByText('Fill in this field.').first().waitFor();
    const lines = ['red', 'green', 'blue'].map((word) => JSON.stringify({ prompt: word, expected: word }));
    await form.getByLabel('File').setInputFiles({
      name: 'colours.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(lines.join('\n')),
    });
    await form.getByLabel('Name of the dataset').fill('colours');
    await form.getByLabel('Models').fill('acme/none');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Begin' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Models').fill('sandbox/echo\nsandbox/reasoning');
    await form.getByRole('button', { name: 'Begin' }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('done', { exact: true }).waitFor();
    const row = details.getByRole('row', { name: /sandbox\/echo/ });
    // Of three items the interval comes first.
    assert.match((await row.textContent()) ?? '', /43\.9 % to 100\.0 %mean 100\.0 % of few items/);
    await details.getByText('no difference shown').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await details.getByRole('button', { name: 'Publish' }).click();
    await details.getByText(/fewer than 30 items/).waitFor();
    await details.getByRole('button', { name: 'Delete the run' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('colours');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page.getByText('No model was tried on your questions').waitFor();
    await context.close();
    // The refusals of the unknown model and of too few items.
    assert.deepEqual(
      problems.filter((problem) => !/40[04]/.test(problem)),
      [],
    );
  });

  test('are judged against the answers of a model of reference', async () => {
    const { page, context, problems } = await stand.open({ theme: 'light', width: 390 });
    await visit(page, `${stand.url}/ui/evaluations?new=true`);
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByLabel('File').setInputFiles({
      name: 'haikus.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(
        ['snow', 'rain'].map((word) => JSON.stringify({ prompt: `A haiku about ${word}` })).join('\n'),
      ),
    });
    await form.getByLabel('Name of the dataset').fill('haikus');
    await form.getByLabel('Models').fill('sandbox/echo');
    await form.getByLabel('Judge', { exact: true }).selectOption({ label: 'on a scale' });
    await form.getByLabel('Levels of the scale').fill('11');
    await form.getByText('At most 10.').waitFor();
    await form.getByLabel('Judge', { exact: true }).selectOption({ label: 'against responses of another model' });
    assert.equal(await form.getByLabel('Levels of the scale').count(), 0);
    await form.getByLabel('Model that judges').fill('sandbox/judge');
    await form.getByRole('button', { name: 'Begin' }).click();
    assert.equal(
      await form.getByLabel('Model of reference').evaluate((field) => field === document.activeElement),
      true,
    );
    await form.getByLabel('Model of reference').fill('sandbox/judge');
    await form.getByLabel('What makes a response good').fill('It is short.');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Begin' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Model of reference').fill('sandbox/reasoning');
    await form.getByRole('button', { name: 'Begin' }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('done', { exact: true }).waitFor();
    await details.getByText('sandbox/judge', { exact: true }).waitFor();
    await details.getByText('sandbox/reasoning', { exact: true }).waitFor();
    const { data } = (await (await stand.call('/benchmarks/runs')).json()) as {
      data: { settings: { judge: { reference_model: string; rubric: string } } }[];
    };
    assert.equal(data[0]?.settings.judge.reference_model, 'sandbox/reasoning');
    await context.close();
    assert.deepEqual(problems, []);
  });
});
