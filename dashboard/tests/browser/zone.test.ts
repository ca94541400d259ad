import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('the zone of times', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand(CHROMIUM ?? '');
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] };
    await (await stand.call('/chat/completions', body, stand.apiKey)).text();
  });
  after(() => stand.close());

  test('is UTC until local time is chosen, on every page and over reloads, and sums of days stay those of UTC', async () => {
    // Five and three quarters of an hour ahead: the minutes differ, too.
    const { page, context, problems } = await stand.open({ timeZone: 'Asia/Kathmandu' });
    page.setDefaultTimeout(10_000);
    const rowTime = async (): Promise<string> =>
      (await page.locator('[role=row] [role=gridcell]').first().textContent()) ?? '';
    await visit(page, `${stand.url}/ui/requests`);
    await page.getByRole('columnheader', { name: 'Time, UTC' }).waitFor();
    const utc = await rowTime();
    assert.match(utc, /^\d\d:\d\d:\d\d\.\d{3}$/);
    await page.getByRole('button', { name: 'UTC', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Time, local' }).waitFor();
    assert.equal(minutesOf(await rowTime()), (minutesOf(utc) + 345) % 1_440);
    await page.reload();
    await page.getByRole('columnheader', { name: 'Time, local' }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);

    await visit(page, `${stand.url}/ui/audit`);
    await page.getByRole('columnheader', { name: 'Time, local' }).waitFor();
    await visit(page, `${stand.url}/ui/analytics?range=24h`);
    await page.getByRole('heading', { name: 'over time, local' }).waitFor();
    await visit(page, `${stand.url}/ui/analytics?range=30d`);
    await page.getByRole('heading', { name: 'over time, days of UTC' }).waitFor();
    await page.getByRole('button', { name: 'as table' }).first().click();
    await page.getByRole('columnheader', { name: 'Time, UTC' }).waitFor();

    await visit(page, `${stand.url}/ui/settings`);
    await page.getByRole('group', { name: 'Times' }).getByRole('button', { name: 'UTC' }).click();
    await visit(page, `${stand.url}/ui/requests`);
    assert.equal(await rowTime(), utc);
    assert.deepEqual(problems, []);
    await context.close();
  });
});

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
}
