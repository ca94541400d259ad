import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const DAY_MS = 86_400_000;

suite('datasets', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
  });
  after(() => stand.close());

  test('of questions are stored, shown and deleted', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/datasets`);
    await page.getByText('No dataset is stored').waitFor();
    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New dataset' });
    await form.getByRole('button', { name: 'Store' }).click();
    await form.getByText('Fill in this field.').first().waitFor();
    const upload = (lines: readonly object[]) =>
      form.getByLabel('File').setInputFiles({
        name: 'capitals.jsonl',
        mimeType: 'application/jsonl',
        buffer: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
      });
    await upload([{ prompt: 'France', expected: 'Paris' }, { question: 'no answer' }]);
    await form.getByLabel('Name').fill('capitals');
    await form.getByLabel('License (optional)').fill('CC0-1.0');
    assert.deepEqual(await findWithAxe(page), []);
    await form.getByRole('button', { name: 'Store' }).click();
    await form.getByRole('alert').getByText(/line/i).waitFor();
    await upload([{ prompt: 'France', expected: 'Paris' }, { prompt: 'Describe \u202E it' }]);
    await form.getByRole('button', { name: 'Store' }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('CC0-1.0').waitFor();
    await page.getByRole('gridcell', { name: 'capitals' }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const { data } = (await (await stand.call('/benchmarks/datasets')).json()) as {
      data: { items: number; judged_items: number; license: string; citation: string | null }[];
    };
    assert.deepEqual(
      data.map(({ items, judged_items: judged, license, citation }) => [items, judged, license, citation]),
      [[2, 1, 'CC0-1.0', null]],
    );
    await details.getByRole('button', { name: 'Delete the dataset' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('capitals');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete dataset' }).click();
    await page.getByText('No dataset is stored').waitFor();
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('of local traffic have models, applications and sessions, to yesterday, and are saved as CSV', async () => {
    const { page, context, problems } = await stand.open({ theme: 'light', width: 390 });
    await visit(page, `${stand.url}/ui/datasets?tab=models`);
    await page.getByText('There was no traffic in these days').waitFor();
    for (const model of ['sandbox/echo', 'sandbox/echo', 'sandbox/reasoning']) {
      const response = await fetch(`${stand.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${stand.apiKey}`,
          'Content-Type': 'application/json',
          'HTTP-Referer': 'https://editor.example',
          'X-Title': '=Editor',
        },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'one two three' }] }),
      });
      assert.equal(response.status, 200);
      await response.text();
    }
    await moveToYesterday();
    await page.reload();
    await settle(page);
    await page.getByRole('gridcell', { name: 'sandbox/reasoning' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 3);
    assert.deepEqual(await findWithAxe(page), []);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    assert.equal((await download).suggestedFilename(), 'models.csv');
    // Of one key alone: with at least three none is named.
    await page.getByLabel('Used by').selectOption({ label: 'of at least 3 keys' });
    await page.getByRole('gridcell', { name: 'all others' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
    await page.getByRole('button', { name: 'Applications' }).click();
    await page.getByText('There was no traffic in these days').waitFor();
    await page.getByLabel('Used by').selectOption({ label: 'of any key' });
    await page.getByRole('gridcell', { name: '=Editor' }).waitFor();
    await page.getByLabel('Order').selectOption({ label: 'by growth' });
    await page.waitForURL(/sort=trending/);
    await settle(page);
    assert.deepEqual(await findWithAxe(page), []);
    await page.getByRole('button', { name: 'Sessions' }).click();
    await page.getByRole('gridcell', { name: 'sandbox/echo' }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const width = await page.evaluate<number>('document.querySelector("main").scrollWidth');
    assert.ok(width <= 390, String(width));
    await context.close();
    assert.deepEqual(problems, []);
  });

  /** The last complete day is what the lists end with. */
  async function moveToYesterday(): Promise<void> {
    const listed = async () =>
      ((await (await stand.call('/generations?limit=10')).json()) as { data: unknown[] }).data.length;
    while ((await listed()) < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    const database = new DatabaseSync(path.join(stand.dataDir, 'gateway.db'));
    database.prepare('update generations set created_at_ms = created_at_ms - ?').run(DAY_MS);
    database.close();
  }
});
