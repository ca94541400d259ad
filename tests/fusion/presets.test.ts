import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FUSION_PRESETS } from '../../src/canonical/tools/fusion.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { objectOf } from '../support/reported.ts';

interface Panel {
  readonly panel: readonly string[];
  /** The model that compares and writes. */
  readonly author: string;
}

/** The models of each preset with these keys in the environment; no model is called. */
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
  test('are those of the specification when all vendors are configured', async (t) => {
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
    test(`are different models with ${key} alone`, async (t) => {
      for (const [name, { panel, author }] of Object.entries(await panelsWith(t, [key]))) {
        assert.ok(panel.length >= 2 && panel.length <= 3, `${name}: ${panel.join()}`);
        assert.equal(new Set(panel).size, panel.length, name);
        assert.doesNotMatch([author, ...panel].join(' '), /sandbox\//);
      }
    });
  }

  test('have members of both vendors when there are two', async (t) => {
    const panels = await panelsWith(t, ['ANTHROPIC_API_KEY', 'MISTRAL_API_KEY']);
    for (const [name, { panel }] of Object.entries(panels))
      assert.deepEqual(new Set(authorsOf(panel)), new Set(['anthropic', 'mistralai']), name);
  });

  test('are the sandbox without any provider', async (t) => {
    const { 'general-high': high } = await panelsWith(t, []);
    assert.deepEqual(high, { panel: ['sandbox/echo'], author: 'sandbox/echo' });
  });
});

test("accepts pass-through names in an operator's preset", async (t) => {
  const yaml = `
routers: { fusion: { presets: { general-fast: { analysis_models: [openrouter/some/model], model: openrouter/other/model } } } }
`;
  const { 'general-fast': fast } = await panelsWith(t, ['OPENROUTER_API_KEY'], yaml);
  assert.deepEqual(fast, { panel: ['openrouter/some/model'], author: 'openrouter/other/model' });
});
