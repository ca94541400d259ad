import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('clips', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
  });
  after(() => stand.close());

  const begin = async (model: string): Promise<void> => {
    const response = await stand.call('/videos', { model, prompt: 'a cat ms=1', duration: 2 }, stand.apiKey);
    assert.equal(response.status, 202, await response.text());
  };

  test('are listed with their state, shown and saved after a click that is recorded, and deleted', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/clips`);
    await page.getByText('No clip was made').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    for (const model of ['sandbox/video', 'sandbox/video-fail']) await begin(model);
    await visit(page, `${stand.url}/ui/clips`);
    const grid = page.getByRole('grid', { name: 'Clips' });
    await grid.getByText('completed').waitFor({ timeout: 30_000 });
    await grid.getByText(/on purpose/).waitFor({ timeout: 30_000 });
    await page.getByLabel('State').selectOption('completed');
    await grid.getByText(/on purpose/).waitFor({ state: 'detached' });
    assert.match(page.url(), /status=completed/);
    await grid.getByRole('gridcell', { name: 'sandbox/video', exact: true }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText(/recorded in the audit log/).waitFor();
    await details.getByRole('button', { name: 'Show the clip' }).click();
    const player = details.getByLabel('Clip 1');
    await player.waitFor();
    // The policy lets it load, and Chromium reads it.
    for (let tries = 0; ; tries++) {
      const [seconds, width] = await player.evaluate((video) => [
        (video as unknown as { duration: number }).duration,
        (video as unknown as { videoWidth: number }).videoWidth,
      ]);
      if (seconds === 2 && (width ?? 0) > 0) break;
      assert.ok(tries < 100, `${String(seconds)} s, ${String(width)} px`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(await findWithAxe(page), []);
    const saving = page.waitForEvent('download');
    await details.getByRole('button', { name: 'Save' }).click();
    const saved = await saving;
    assert.match(saved.suggestedFilename(), /^vid_\w+-0\.mp4$/);
    assert.equal((await readFile(await saved.path())).toString('latin1', 4, 8), 'ftyp');
    const audit = await fetch(`${stand.url}/v1/audit?action=readVideoContent`, {
      headers: { authorization: `Bearer ${stand.managementKey}` },
    });
    const { data } = (await audit.json()) as { data: readonly { subject: string }[] };
    assert.equal(data.length, 1, 'what was shown is saved without another read');
    await details.getByRole('button', { name: 'Delete the job' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('sandbox/video');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete job' }).click();
    await page.getByText('No job matches this filter.').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('are cancelled while they run', async () => {
    await begin('sandbox/video-stall');
    const { page, context, problems } = await stand.open({ theme: 'light', width: 390 });
    await visit(page, `${stand.url}/ui/clips?model=sandbox/video-stall`);
    const grid = page.getByRole('grid', { name: 'Clips' });
    await grid.getByText('in progress').waitFor({ timeout: 30_000 });
    await grid.getByRole('gridcell', { name: 'sandbox/video-stall' }).click();
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByRole('button', { name: 'Cancel the job' }).click();
    await details.getByText('cancelled', { exact: true }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });
});
