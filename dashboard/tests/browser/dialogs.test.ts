import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
/** A page, and the button that opens its dialog. */
const DIALOGS = [
  ['/ui/keys', 'New key'],
  ['/ui/money', 'Grant credit'],
  ['/ui/money?tab=ledger', 'Adjust the balance'],
  ['/ui/money?tab=budgets', 'Budget'],
  ['/ui/guardrails', 'New guardrail'],
  ['/ui/providers', 'Bring a credential'],
  ['/ui/workspaces', 'New workspace'],
  ['/ui/destinations', 'New destination'],
  ['/ui/notifications', 'New channel'],
  ['/ui/requests', 'Columns'],
  ['/ui/playground', 'Request'],
] as const;

suite('dialogs', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  for (const theme of ['dark', 'light'] as const)
    test(`have nothing that axe finds, close at Escape, and give the focus back: ${theme}`, async () => {
      const { page, context, problems } = await stand.open({ theme });
      const found: string[] = [];
      for (const [address, name] of DIALOGS) {
        await visit(page, stand.url + address);
        const button = page
          .getByRole('main')
          .getByRole('button', { name: new RegExp(`^${name}(?: \\w)?$`) })
          .first();
        await button.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').waitFor();
        found.push(...(await findWithAxe(page)).map((finding) => `${address}: ${finding}`));
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        const focused = await page.evaluate<string>('document.activeElement.textContent');
        if (!focused.includes(name)) found.push(`${address}: the focus is at “${focused.slice(0, 40)}”`);
      }
      assert.deepEqual(found, []);
      assert.deepEqual(problems, []);
      await context.close();
    });
});
