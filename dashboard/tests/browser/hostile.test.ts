import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { HOSTILE_TEXTS } from './hostile-texts.ts';
import { findChromium, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();

suite('hostile texts', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('run nothing and call no other host as the text of a model', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/playground?models=sandbox/echo`);
    for (const text of HOSTILE_TEXTS) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send' }).waitFor();
    }
    await settle(page);
    const state = await page.evaluate<{
      readonly hit: unknown;
      readonly elements: number;
      readonly links: readonly (readonly string[])[];
    }>(`({
      hit: window.hit,
      elements: document.querySelectorAll('main :is(script, iframe, object, embed, base, meta, link, style, svg[onload], [onerror], [onload], [ontoggle])').length,
      links: [...document.querySelectorAll('[role=log] a[href]')].map(({ protocol, username, rel }) => [protocol, username, rel]),
    })`);
    assert.equal(state.hit, undefined);
    assert.equal(state.elements, 0);
    for (const [protocol, username, rel] of state.links) {
      assert.match(protocol ?? '', /^https?:$|^http:$/);
      assert.equal(username, '');
      if (rel !== '') assert.equal(rel, 'noopener noreferrer nofollow');
    }
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('run nothing as names of keys, workspaces and presets', async () => {
    const names = HOSTILE_TEXTS.filter((text) => text.length < 200);
    for (const name of names) assert.ok([201, 200, 400].includes((await stand.call('/keys', { name })).status));
    const { page, context, problems } = await stand.open();
    for (const address of ['/ui/keys', '/ui/analytics?by=api_key_id', '/ui/audit']) {
      await visit(page, `${stand.url}${address}`);
      assert.equal(await page.evaluate('window.hit'), undefined, address);
    }
    await visit(page, `${stand.url}/ui/keys?q=name`);
    await page.getByText('U+200B').first().waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });
});
