import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { PICTURE, startUpstream, type Upstream } from './upstream.ts';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
/** Much above what a page needs (docs/dashboard.md has its figures), and far below a page that lexes the whole text at every event. */
const TASK_MS_MAX = 1_000;
const KEY_MS_MAX = 500;

suite('the playground', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    const price = 'price: { prompt: 0.7, completion: 1.3 }';
    const models = ['first', 'second', 'endless', 'draws', 'long'].map(
      (model) => `  acme/${model}: { endpoints: [{ provider: vendor, model: ${model}, ${price} }] }`,
    );
    stand = await startStand(CHROMIUM ?? '', {
      yaml: `
providers:
  vendor: { adapter: openai-compatible, name: Vendor, base_url: 'http://127.0.0.1:${upstream.port}/v1', api_key: a }
  other: { adapter: messages-compatible, name: Other, base_url: 'http://127.0.0.1:${upstream.port}/v1', api_key: b }
models:
${models.join('\n')}
  acme/translated: { endpoints: [{ provider: other, model: translated, ${price} }] }
`,
    });
  });
  after(async () => {
    await stand.close();
    upstream.close();
  });

  const send = async (page: Page, models: string, text = 'Hello'): Promise<void> => {
    await visit(page, `${stand.url}/ui/playground?models=${models}`);
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.keyboard.press('Enter');
  };

  test('streams three models side by side, stops one of them upstream at once, and shows what the records charge', async () => {
    const { page, context, problems } = await stand.open();
    await send(page, 'acme/first,acme/second,acme/endless');
    const [first, second, endless] = ['first', 'second', 'endless'].map((name) =>
      page.getByRole('region', { name: `acme/${name}` }),
    );
    await endless?.getByText('On and on').waitFor();
    await endless?.getByText('streaming').waitFor();
    await first?.getByText('I am first.').waitFor();
    await second?.getByText('I am second.').waitFor();
    const clickedMs = Date.now();
    await endless?.getByRole('button', { name: 'Stop acme/endless' }).click();
    await endless?.getByText('stopped').waitFor();
    assert.equal(upstream.cuts.length, 1);
    // The click itself, which Playwright prepares, is within.
    assert.ok((upstream.cuts[0] ?? 0) - clickedMs < KEY_MS_MAX, String((upstream.cuts[0] ?? 0) - clickedMs));
    const { data } = (await (await stand.call('/generations')).json()) as {
      readonly data: readonly {
        readonly requested_model: string;
        readonly total_cost: number;
        readonly cancelled: boolean;
      }[];
    };
    for (const [region, name] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      const record = data.find(({ requested_model: model }) => model === `acme/${name}`);
      assert.equal(record?.total_cost, 0.000_083);
      await region?.getByText('0.000083 $').waitFor();
    }
    assert.equal(data.find(({ requested_model: model }) => model === 'acme/endless')?.cancelled, true);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('shows what went upstream line by line, with the warning of a field that was dropped', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=acme/translated`);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('More of the body, as JSON').fill('{"frequency_penalty": ');
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('More of the body, as JSON').fill('{"frequency_penalty": 0.5}');
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'the record' }).waitFor();
    await page.getByRole('button', { name: 'Upstream' }).click();
    const dialog = page.getByRole('dialog', { name: 'What went upstream' });
    await dialog.getByRole('heading', { name: 'Other' }).waitFor();
    const lines = await dialog
      .getByLabel('What went to Other, against what was sent')
      .locator('span')
      .allTextContents();
    assert.ok(
      lines.some((line) => line.includes('-   "frequency_penalty": 0.5')),
      lines.join('\n'),
    );
    await dialog.getByText('field-dropped').waitFor();
    await dialog.getByText('frequency_penalty', { exact: true }).waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('shows the request as curl by Ctrl Shift J, and goes to a column by Alt and its number', async () => {
    const { page, context } = await stand.open();
    await send(page, 'acme/first,acme/second');
    await page.getByRole('link', { name: 'the record' }).nth(1).waitFor();
    await page.keyboard.press('Alt+2');
    assert.equal(
      await page.evaluate('document.activeElement.getAttribute("aria-label")'),
      'Conversation with acme/second',
    );
    await page.keyboard.press('Control+Shift+J');
    const text = (await page.getByRole('dialog').getByLabel('Request', { exact: true }).textContent()) ?? '';
    assert.match(text, /^curl .*chat\/completions/);
    assert.match(text, /acme\/first/);
    assert.match(text, /\$GATEWAY_API_KEY/);
    await context.close();
  });

  test('shows pictures that were sent, and those that a model made', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=acme/draws`);
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob('${PICTURE.split(',')[1]}'), (c) => c.charCodeAt(0))], 'dot.png', { type: 'image/png' }));
      document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
    })()`);
    await page.getByRole('img', { name: 'Attached 1' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Draw this again');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'the record' }).waitFor();
    const widths = await page.evaluate<number[]>(
      '[...document.querySelectorAll("[role=log] img")].map((image) => image.naturalWidth)',
    );
    assert.deepEqual(widths, [1, 1]);
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('stays usable while 200 KB stream in at full speed', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=acme/long`);
    await page.evaluate(`
      window.tasks = [];
      window.keys = [];
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
      document.querySelector('textarea').addEventListener('keydown', (event) => {
        const from = event.timeStamp;
        requestAnimationFrame(() => keys.push(performance.now() - from));
      });
    `);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('Tell me everything');
    await page.keyboard.press('Enter');
    await field.pressSequentially('typed while it streams', { delay: 20 });
    await page.getByRole('link', { name: 'the record' }).waitFor();
    await page.getByText('The very end.').waitFor();
    assert.equal(await field.inputValue(), 'typed while it streams');
    const [tasks, keys] = [await page.evaluate<number[]>('tasks'), await page.evaluate<number[]>('keys')];
    const longest = Math.max(0, ...tasks);
    assert.ok(longest < TASK_MS_MAX, `a task of ${longest} ms`);
    const slowest = Math.max(...keys);
    assert.ok(keys.length > 10 && slowest < KEY_MS_MAX, `a key of ${slowest} ms`);
    assert.deepEqual(problems, []);
    await context.close();
  });
});
