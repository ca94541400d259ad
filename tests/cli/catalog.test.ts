import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { createRefreshFile } from '../../src/catalog/refresh-file.ts';
import { captureCli } from '../support/cli/capture-cli.ts';

const CONFIG = `
catalog: { refresh: { enabled: true } }
aliases: { house-model: acme/one }
providers:
  openai: { api_key: openai-secret }
  alpha: { adapter: openai-compatible, base_url: "http://127.0.0.1:9/v1", data_policy: { training: false } }
models:
  acme/one:
    context_length: 8000
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 1, completion: 2, cache_write_1h: 3 }, quantization: fp8 }
      - { provider: alpha, model: two }
`;

interface Shown {
  readonly slug: string;
  readonly unreviewed: boolean;
  readonly figures: readonly Figure[];
  readonly endpoints: readonly { readonly provider: string; readonly figures: readonly Figure[] }[];
}

interface Figure {
  readonly member: string;
  readonly value: unknown;
  readonly layer: string;
  readonly source: string;
  readonly date?: string;
}

/** A folder with a configuration and a list that was fetched. */
async function prepare(t: TestContext): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'gateway.yaml');
  await writeFile(path, CONFIG);
  const facts = { name: 'Next', input_modalities: ['text' as const], output_modalities: ['text' as const] };
  await createRefreshFile(folder).write({
    version: 1,
    source: 'https://models.test/api.json',
    fetched: '2026-11-20T00:00:00.000Z',
    endpoints: [
      { ...facts, provider: 'openai', model: 'gpt-next', price: { prompt: 3, completion: 9 } },
      { ...facts, provider: 'openai', model: 'gpt-5.1', price: { prompt: 7, completion: 7 } },
    ],
    refused: [{ provider: 'openai', model: 'gpt-odd', fault: 'free' }],
  });
  return ['--config', path, '--data-dir', folder];
}

async function show(t: TestContext, model: string): Promise<(member: string) => readonly unknown[]> {
  const { code, stdout, stderr } = await captureCli(['catalog', 'show', model, '--json', ...(await prepare(t))]);
  assert.equal(code, 0, stderr);
  const { figures, endpoints } = JSON.parse(stdout) as Shown;
  const all = [...figures, ...endpoints.flatMap((endpoint) => endpoint.figures)];
  return (member) =>
    all.filter((one) => one.member === member).map(({ value, layer, date }) => [value, layer, ...(date ? [date] : [])]);
}

suite('model-gateway catalog', () => {
  test("show prints each fact with its layer and its date, with the library's price above the list's", async (t) => {
    const figure = await show(t, 'openai/gpt-5.1');
    assert.deepEqual(figure('price.prompt')[0], [1.25, 'library', '2026-09-23']);
    assert.deepEqual(figure('tokenizer'), [['GPT', 'project', '2026-07-02']]);
  });

  test('show prints facts of the list and of the configuration', async (t) => {
    assert.deepEqual((await show(t, 'openai/gpt-next'))('price.prompt'), [[3, 'list', '2026-11-20']]);
    const own = await show(t, 'acme/one');
    assert.deepEqual(own('price.cache_write_1h'), [[3, 'configuration']]);
    assert.deepEqual(own('quantization'), [['fp8', 'configuration']]);
    assert.deepEqual(own('data_policy.training'), [
      [false, 'configuration'],
      [false, 'configuration'],
    ]);
  });

  test('show reports a missing price and an unreviewed model as text', async (t) => {
    const flags = await prepare(t);
    assert.match(
      (await captureCli(['catalog', 'show', 'acme/one', ...flags])).stdout,
      /\nalpha {2}two\n {2}price unknown\n/,
    );
    const next = await captureCli(['catalog', 'show', 'openai/gpt-next', ...flags]);
    assert.match(next.stdout, /^openai\/gpt-next {2}\(not reviewed\)\n/);
    assert.match(next.stdout, /price\.prompt: 3 {2}\[list: https:\/\/models\.test\/api\.json, 2026-11-20\]/);
  });

  test('list prints the models of configured providers, and all models with --all', async (t) => {
    const flags = await prepare(t);
    const own = (await captureCli(['catalog', 'list', ...flags])).stdout;
    assert.match(own, /^acme\/one {2}8000 tokens {2}\$1\/\$2 {2}alpha\n/);
    assert.match(own, /\nopenai\/gpt-next {2}.*\(not reviewed\)/);
    assert.doesNotMatch(own, /claude/);
    assert.match((await captureCli(['catalog', 'list', 'CLAUDE', '--all', ...flags])).stdout, /^anthropic\/claude/);
    assert.equal((await captureCli(['catalog', 'list', 'claude', ...flags])).code, 1);
  });

  test('check finds no error in the catalog, and lists unknown facts', async (t) => {
    const { code, stdout } = await captureCli(['catalog', 'check', ...(await prepare(t))]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /note: acme\/one at alpha \(two\): its price is unknown/);
    assert.match(stdout, /note: openai gpt-odd: its price is not taken: free/);
    assert.match(stdout, /note: the public list is of 2026-11-20/);
    assert.match(stdout, /The catalog is in order: \d+ models, and 1 of yours\./);
  });

  test('refresh fetches nothing unless the operator enabled it', async () => {
    const { code, stderr } = await captureCli(['catalog', 'refresh', '--data-dir', tmpdir()]);
    assert.equal(code, 1);
    assert.match(stderr, /catalog\.refresh\.enabled/);
  });

  test('suggests the nearest model for an unknown one', async () => {
    const { code, stderr } = await captureCli(['catalog', 'show', 'openai/gpt-5.11']);
    assert.deepEqual([code, /did you mean "openai\/gpt-5\.1/.test(stderr)], [1, true]);
  });
});

suite('catalog show with a name in place of a slug', () => {
  for (const [name, slug] of [
    ['house-model', 'acme/one'],
    ['house-model:nitro', 'acme/one'],
    ['one', 'acme/one'],
    ['gpt-5.1', 'openai/gpt-5.1'],
    ['gpt-5-1', 'openai/gpt-5.1'],
    ['claude-haiku-4-5', 'anthropic/claude-haiku-4.5'],
  ] as const)
    test(name, async (t) => {
      const { code, stdout, stderr } = await captureCli(['catalog', 'show', name, '--json', ...(await prepare(t))]);
      assert.equal(code, 0, stderr);
      assert.equal((JSON.parse(stdout) as Shown).slug, slug);
    });
});
