import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FUSION_PRESETS } from '../../src/canonical/fusion.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { objectOf } from '../support/told.ts';

interface Panel {
  readonly panel: readonly string[];
  /** Who compares and writes. */
  readonly author: string;
}

/** Whom each preset comes to with these keys in the environment: nobody is asked. */
async function panelsWith(
  t: { after(close: () => Promise<void>): void },
  keys: readonly string[],
  yaml = '',
): Promise<Readonly<Record<string, Panel>>> {
  const gateway = await startGateway({ yaml, env: Object.fromEntries(keys.map((key) => [key, 'sk-test'])) });
  t.after(() => gateway.close());
  const panels: Record<string, Panel> = {};
  for (const preset of FUSION_PRESETS) {
    const body = { messages: [{ role: 'user', content: 'Tea?' }], plugins: [{ id: 'fusion', preset }] };
    const answer = await gateway.post('/route/explain', { model: 'service/fusion', ...body });
    assert.equal(answer.status, 200);
    const { routers, models } = (await answer.json()) as {
      readonly routers: readonly JsonObject[];
      readonly models: readonly string[];
    };
    const { panel } = objectOf(routers[0]);
    panels[preset] = { panel: panel as readonly string[], author: models[0] ?? '' };
  }
  return panels;
}

const authorsOf = (slugs: readonly string[]): readonly string[] => slugs.map((slug) => slug.split('/')[0] ?? '');

suite('the usual presets', () => {
  test('are those of the specification where all of their vendors are configured', async (t) => {
    const vendors = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'DEEPSEEK_API_KEY', 'MOONSHOT_API_KEY'];
    const panels = await panelsWith(t, vendors);
    const authors = Object.entries(panels).map(([name, { panel }]) => [name, ...authorsOf(panel)]);
    assert.deepEqual(authors, [
      ['general-high', 'anthropic', 'openai', 'google'],
      ['general-budget', 'google', 'deepseek', 'moonshotai'],
      ['general-fast', 'google', 'openai', 'anthropic'],
    ]);
    assert.equal(panels['general-high']?.author, panels['general-high']?.panel[0]);
    assert.match(panels['general-high']?.author ?? '', /^anthropic\/claude-opus-/);
    assert.match(panels['general-fast']?.author ?? '', /^anthropic\/claude-sonnet-/);
  });

  for (const key of [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GEMINI_API_KEY',
    'MISTRAL_API_KEY',
    'GROQ_API_KEY',
    'DEEPSEEK_API_KEY',
  ]) {
    test(`come together with ${key} alone: several models, each of them once`, async (t) => {
      for (const [name, { panel, author }] of Object.entries(await panelsWith(t, [key]))) {
        assert.ok(panel.length >= 2 && panel.length <= 3, `${name}: ${panel.join()}`);
        assert.equal(new Set(panel).size, panel.length, name);
        assert.doesNotMatch([author, ...panel].join(' '), /sandbox\//);
      }
    });
  }

  test('of two vendors have members of both', async (t) => {
    const panels = await panelsWith(t, ['ANTHROPIC_API_KEY', 'MISTRAL_API_KEY']);
    for (const [name, { panel }] of Object.entries(panels))
      assert.deepEqual(new Set(authorsOf(panel)), new Set(['anthropic', 'mistralai']), name);
  });

  test('where nobody is configured are the sandbox', async (t) => {
    const { 'general-high': high } = await panelsWith(t, []);
    assert.deepEqual(high, { panel: ['sandbox/echo'], author: 'sandbox/echo' });
  });
});

test("an operator's preset may name what nobody lists: names that are passed through", async (t) => {
  const yaml = `
routers: { fusion: { presets: { general-fast: { analysis_models: [openrouter/some/model], model: openrouter/other/model } } } }
`;
  const { 'general-fast': fast } = await panelsWith(t, ['OPENROUTER_API_KEY'], yaml);
  assert.deepEqual(fast, { panel: ['openrouter/some/model'], author: 'openrouter/other/model' });
});
