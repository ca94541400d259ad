import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';
import { PICTURE, startUpstream, type Upstream } from './upstream.ts';

const CHROMIUM = findChromium();

suite('a conversation in the playground', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    stand = await startStand(CHROMIUM ?? '', {
      yaml: `
providers:
  vendor: { adapter: openai-compatible, name: Vendor, base_url: 'http://127.0.0.1:${upstream.port}/v1', api_key: a }
models:
  acme/first: { endpoints: [{ provider: vendor, model: first, price: { prompt: 1000, completion: 1000 } }] }
  acme/unpriced: { endpoints: [{ provider: vendor, model: unpriced }] }
`,
    });
  });
  after(async () => {
    await stand.close();
    upstream.close();
  });

  const say = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.keyboard.press('Enter');
  };
  const column = (page: Page, name: string) => page.getByRole('log', { name: `Conversation with ${name}` });
  /** Waits until the address holds another conversation than before. @returns the address */
  const linked = async (page: Page, earlier = ''): Promise<string> => {
    await page.waitForURL((url) => /#[\w-]{20,}/.test(url.href) && url.href !== earlier);
    return page.url();
  };

  for (const format of ['chat', 'messages', 'responses'] as const)
    test(`streams as ${format} where this format is chosen, and shows the request in it`, async () => {
      const { page, context, problems } = await stand.open();
      page.setDefaultTimeout(8_000);
      await visit(page, `${stand.url}/ui/playground?models=sandbox/reasoning`);
      if (format !== 'chat') await page.getByRole('button', { name: format, exact: true }).click();
      const path = { chat: '/chat/completions', messages: '/messages', responses: '/responses' }[format];
      const sent = page.waitForRequest((request) => request.url() === `${stand.url}/ui/api/v1${path}`);
      await say(page, 'Say seven');
      await sent;
      await page.getByRole('link', { name: 'the record' }).waitFor();
      const region = page.getByRole('region', { name: 'sandbox/reasoning' });
      await region.getByText('Say seven').nth(1).waitFor();
      await region.getByText('Reasoning', { exact: false }).first().waitFor();
      assert.match((await region.locator('footer').textContent()) ?? '', /\d+ in, \d+ out/);
      await page.getByRole('button', { name: 'Request' }).click();
      const text = (await page.getByRole('dialog').getByLabel('Request', { exact: true }).textContent()) ?? '';
      assert.ok(text.includes(`/v1${path}'`), text);
      assert.match(text, format === 'responses' ? /"input": \[/ : /"messages": \[/);
      assert.deepEqual(problems, []);
      await context.close();
    });

  test('takes a function answered by hand on in each format', async () => {
    const { page, context, problems } = await stand.open();
    page.setDefaultTimeout(8_000);
    for (const format of ['messages', 'responses']) {
      await visit(page, `${stand.url}/ui/playground?models=sandbox/tools&format=${format}`);
      await page.getByRole('button', { name: 'Settings' }).click();
      await page
        .getByLabel('Functions, as JSON')
        .fill(
          '[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]',
        );
      await page.getByRole('button', { name: 'Settings' }).click();
      await say(page, 'Weather?');
      await page.getByLabel('What weather returns').fill('rain in Paris');
      await page.getByRole('button', { name: 'Answer and go on' }).click();
      await column(page, 'sandbox/tools').getByText('rain in Paris').nth(1).waitFor();
    }
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('continues from an edited turn in every column that has it, and shows the earlier one on the way back', async () => {
    const { page, context, problems } = await stand.open();
    page.setDefaultTimeout(8_000);
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo,sandbox/reasoning`);
    await say(page, 'one');
    await page.getByRole('link', { name: 'the record' }).nth(1).waitFor();
    const one = await linked(page);
    await say(page, 'two');
    await column(page, 'sandbox/echo').getByText('two').nth(1).waitFor();
    await column(page, 'sandbox/reasoning').getByText('two').nth(1).waitFor();
    const two = await linked(page, one);
    await column(page, 'sandbox/echo').getByRole('button', { name: 'Edit this message' }).first().click();
    await page.getByLabel('Edited message').fill('three');
    assert.deepEqual(await findWithAxe(page), []);
    await page.keyboard.press('Enter');
    for (const name of ['sandbox/echo', 'sandbox/reasoning']) {
      await column(page, name).getByText('three').nth(1).waitFor();
      assert.equal(await column(page, name).getByText('two').count(), 0, name);
    }
    await page.getByRole('link', { name: 'the record' }).nth(1).waitFor();
    await linked(page, two);
    await page.goBack();
    await column(page, 'sandbox/echo').getByText('two').nth(1).waitFor();
    assert.equal(await column(page, 'sandbox/echo').getByText('three').count(), 0);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('is in the address: a second browser shows it with its settings, and a reload does', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo`);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('System').fill('Be short.');
    const onlySettings = await linked(page);
    await page.getByRole('button', { name: /Settings/ }).click();
    await say(page, 'remember this');
    await column(page, 'sandbox/echo').getByText('remember this').nth(1).waitFor();
    await page.getByRole('link', { name: 'the record' }).waitFor();
    const address = await linked(page, onlySettings);
    // The link that skips to the content has a fragment, too.
    await page.evaluate('location.hash = "main"');
    await page.waitForURL(/#main$/);
    await column(page, 'sandbox/echo').getByText('remember this').nth(1).waitFor();
    await page.goto(address);
    await page.reload();
    await column(page, 'sandbox/echo').getByText('remember this').nth(1).waitFor();
    const other = await stand.open();
    await visit(other.page, address);
    await column(other.page, 'sandbox/echo').getByText('remember this').nth(1).waitFor();
    await other.page.getByRole('button', { name: 'Settings (1)' }).click();
    assert.equal(await other.page.getByLabel('System').inputValue(), 'Be short.');
    await say(other.page, 'and this');
    await column(other.page, 'sandbox/echo').getByText('and this').nth(1).waitFor();
    assert.deepEqual(other.problems, []);
    await context.close();
    await other.context.close();
  });

  test('that is too long for the address says so, and leaves the address short', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo`);
    const long = Array.from({ length: 12_000 }, (_, at) => ((at * 2_654_435_761) % 4_294_967_296).toString(36)).join(
      ' ',
    );
    await say(page, long);
    await page.getByText('too long for the address').waitFor();
    assert.ok(page.url().length < 200);
    await context.close();
  });

  test('draws nothing of a link but text: no script runs, and no call leaves', async () => {
    const { page, context, problems } = await stand.open();
    page.setDefaultTimeout(8_000);
    const { deflateRawSync } = await import('node:zlib');
    const content = '<img src=x onerror="window.ran=1"> ![a](https://evil.example/a.png) [b](javascript:window.ran=1)';
    const threads = [
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: content },
            { type: 'image_url', image_url: { url: 'https://evil.example/b.png' } },
            { type: 'image_url', image_url: { url: PICTURE } },
          ],
        },
        { role: 'assistant', content },
      ],
    ];
    const link = deflateRawSync(JSON.stringify({ settings: { system: content }, threads })).toString('base64url');
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo#${link}`);
    await column(page, 'sandbox/echo').getByText('onerror').first().waitFor();
    assert.equal(await page.evaluate('window.ran'), undefined);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('has its cost before it is sent: by the prices of the endpoints, at most with a bound, and not where nothing can serve it', async () => {
    const { page, context, problems } = await stand.open();
    page.setDefaultTimeout(8_000);
    await visit(page, `${stand.url}/ui/playground?models=acme/first`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('Hello');
    // 1,000 USD a million: 0.001 for each token.
    const open = page.getByText(/^Before: about 0\.00\d000 \$ for \d tokens in, and 1\.00 \$ for each 1,000 out$/);
    await open.waitFor();
    const tokens = Number(/for (\d) tokens/.exec((await open.textContent()) ?? '')?.[1]);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Most tokens out').fill('100');
    await page
      .getByText(`Before: about 0.00${tokens}000 $ for ${tokens} tokens in, at most 0.10${tokens}000 $`)
      .waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    await visit(page, `${stand.url}/ui/playground?models=acme/first,acme/unpriced`);
    await field.fill('Hello');
    // The session has a limit, which needs prices.
    await page.getByText('Before: no endpoint can serve acme/unpriced now.').waitFor();
    await visit(page, `${stand.url}/ui/playground?models=acme/nothing`);
    await field.fill('Hello');
    await page.getByText('Before: no endpoint can serve acme/nothing now.').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('leaves a preset with its model and settings under a name', async () => {
    const { page, context, problems } = await stand.open();
    page.setDefaultTimeout(8_000);
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo&format=messages`);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('System').fill('Be short.');
    await page.getByLabel('Temperature').fill('0.2');
    await page.getByRole('button', { name: 'Save as preset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as a preset' });
    await dialog.getByLabel('Name').fill('Not A Slug');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Small letters and digits', { exact: false }).waitFor();
    await dialog.getByLabel('Name').fill('from-here');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog', { name: 'Saved' }).getByText('@preset/from-here').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const { data } = (await (await stand.call('/presets/from-here')).json()) as {
      readonly data: { readonly designated_version: { readonly config: object; readonly system_prompt: string } };
    };
    assert.equal(data.designated_version.system_prompt, 'Be short.');
    assert.deepEqual(data.designated_version.config, { model: 'sandbox/echo', temperature: 0.2 });
    await page.getByRole('link', { name: 'Open the preset' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo&preset=from-here`);
    await page.getByRole('button', { name: 'Leave out the preset from-here' }).click();
    await page.waitForURL((url) => !url.search.includes('preset'));
    assert.deepEqual(problems, []);
    await context.close();
  });
});
