import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const SHOTS = process.env['SHOTS'];
const HOUR_MS = 3_600_000;
const ERROR = 'The channel responded with 410 <b>Gone</b>.';

/** Jobs of every state, without waiting for areas to leave them: none is due while the test runs. */
function addJobs(dataDir: string): void {
  const database = new DatabaseSync(join(dataDir, 'gateway.db'), { timeout: 5_000 });
  const insert = database.prepare(
    'insert into jobs (id, kind, subject_id, state, attempt, run_after_ms, lease_owner, lease_until_ms, is_cancelled, checkpoint, error, created_at_ms, updated_at_ms, finished_at_ms, expires_at_ms) values (?, ?, ?, ?, ?, ?, null, 0, 0, ?, ?, ?, ?, ?, ?)',
  );
  const nowMs = Date.now();
  const later = nowMs + HOUR_MS;
  for (let index = 0; index < 120; index++)
    insert.run(
      `done-${index}`,
      'notify',
      `event-${index}`,
      'done',
      1,
      nowMs,
      '{}',
      null,
      nowMs - index,
      nowMs,
      nowMs,
      later,
    );
  insert.run(
    'bad',
    'notify',
    'event-bad',
    'failed',
    4,
    nowMs,
    '{"told":"secret-words"}',
    ERROR,
    nowMs + 1,
    nowMs,
    nowMs,
    later,
  );
  insert.run('next', 'evaluate', 'run-next', 'queued', 0, later, '{}', null, nowMs + 2, nowMs, null, null);
  database.close();
}

suite('jobs', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
  });
  after(() => stand.close());

  // @spec job-8
  test('are listed with their state, attempts and error, filtered by the address', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/jobs`);
    await page.getByText('There is no job').waitFor();
    addJobs(stand.dataDir);
    await visit(page, `${stand.url}/ui/jobs`);
    await page.getByRole('button', { name: 'failed 1' }).click();
    await page.getByRole('gridcell', { name: 'event-bad' }).click();
    assert.deepEqual(await page.getByRole('gridcell', { name: 'event-0' }).count(), 0);
    const panel = page.getByRole('complementary');
    await panel.getByText(ERROR).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const address = page.url();
    await page.reload();
    await settle(page);
    await panel.getByText(ERROR).waitFor();
    assert.equal(page.url(), address);
    await page.getByRole('button', { name: 'all 122' }).click();
    await page.getByLabel('Kind').selectOption('evaluate');
    await page.getByRole('gridcell', { name: 'run-next' }).click();
    await panel.getByText('not before').waitFor();
    await page.getByRole('button', { name: 'waiting 0' }).click();
    await page.getByRole('button', { name: 'Drop the filters' }).click();
    await page.getByRole('gridcell', { name: 'event-bad' }).waitFor();

    const text = await (await stand.call('/jobs?state=failed')).text();
    assert.ok(text.includes('event-bad') && !text.includes('secret-words'), text);
    assert.equal((await stand.call('/jobs?state=lost')).status, 400);
    assert.equal((await stand.call('/jobs/nothing')).status, 404);
    const { data } = (await (await stand.call('/jobs/bad')).json()) as { data: Record<string, unknown> };
    assert.deepEqual([data['attempts'], data['state'], data['runs_at']], [4, 'failed', null]);
    assert.equal((await stand.call('/jobs', undefined, stand.apiKey)).status, 403);
    await context.close();
    assert.deepEqual(problems, []);
  });

  test('fit narrow and wide screens in both themes', async () => {
    for (const [theme, width] of [
      ['dark', 1280],
      ['light', 1280],
      ['dark', 390],
      ['light', 390],
    ] as const) {
      const { page, context } = await stand.open({ theme, width });
      await visit(page, `${stand.url}/ui/jobs?peek=bad`);
      assert.deepEqual(await findWithAxe(page), []);
      const wide = await page.evaluate<number>('document.querySelector("main").scrollWidth');
      assert.ok(wide <= width, String(wide));
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/jobs-${theme}-${width}.png` });
      await context.close();
    }
  });
});
