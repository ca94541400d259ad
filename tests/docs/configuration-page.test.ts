import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { readConfigFile } from '../../src/config/read-file.ts';
import { ADAPTER_IDS, ADAPTER_OPTIONS, KNOWN_PROVIDER_IDS } from '../../src/providers/index.ts';
import {
  formatConfigurationReference,
  exampleOf,
  readConfigurationKeys,
  type ConfigurationKey,
} from '../support/docs/configuration-reference.ts';
import { checkPart } from '../support/docs/generated-page.ts';

const PAGE = 'configuration.md';
const ENVIRONMENT = { ALPHA_API_KEY: 'a', SERVICE_KEY: 'b', WIKI_TOKEN: 'c' };

const keys = readConfigurationKeys();
const values = keys.filter(({ isSection }) => !isSection);

/** Without the lines of its values. */
function read(text: string): unknown {
  const { origins: _origins, ...config } = readConfigFile({
    path: 'gateway.yaml',
    text,
    env: ENVIRONMENT,
    readText: () => 'a',
    adapterIds: ADAPTER_IDS,
    adapterOptions: ADAPTER_OPTIONS,
    providerIds: KNOWN_PROVIDER_IDS,
  });
  return config;
}

/** What must stand beside a key so that its entry is whole. */
const BESIDE: Readonly<Record<string, object>> = {
  'providers.<slug>': { adapter: 'openai-compatible', base_url: 'https://api.alpha.example/v1' },
  'mcp_server.clients.[]': { client_id: 'editor', name: 'Editor', redirect_uris: ['https://editor.example/back'] },
  'mcp_servers.<name>': { url: 'https://mcp.example/mcp' },
  'models.<author/slug>': { endpoints: [{ provider: 'ollama', model: 'one' }] },
  'models.<author/slug>.endpoints.[]': { provider: 'ollama', model: 'one' },
  'models.<author/slug>.endpoints.[].price': { prompt: 1, completion: 2 },
  'models.<author/slug>.endpoints.[].price.images.[]': { billable: 'output_image', unit: 'image', cost_usd: 0.04 },
  'models.<author/slug>.endpoints.[].embeddings.dimensions': { default: 1_024 },
  'models.<author/slug>.endpoints.[].tts.speed': { min: 0.5, max: 2 },
  'models.<prefix>/*': { provider: 'ollama' },
};
/** Members of one kind of server, in place of those of the other. */
const OF_A_PROCESS: ReadonlySet<string> = new Set(['command', 'args', 'env', 'cwd', 'uid', 'gid']);
/** Keys that are not alone. */
const TOGETHER: Readonly<Record<string, object>> = {
  utc_start: { utc_end: 2_359 },
  utc_end: { utc_start: 1 },
  issuer: { client_id: 'model-gateway' },
  uid: { gid: 1_000 },
};
const NAMES: Readonly<Record<string, string>> = {
  '<slug>': 'alpha',
  '<provider>': 'anthropic',
  '<name>': 'wiki',
  '<author/slug>': 'acme/one',
  '<prefix>/*': 'local/*',
};

/** A file that holds one key, and what that key cannot be without. */
function fileWith({ path }: ConfigurationKey, value: unknown): string {
  let written: unknown = value;
  for (let length = path.length; length > 0; length--) {
    const step = path[length - 1] ?? '';
    const owner = path.slice(0, length - 1).join('.');
    const isProcess = owner === 'mcp_servers.<name>' && OF_A_PROCESS.has(step);
    const beside = isProcess ? { command: 'npx' } : BESIDE[owner];
    written =
      step === '[]' ? [written] : { ...(length > 1 && beside), ...TOGETHER[step], [NAMES[step] ?? step]: written };
  }
  return JSON.stringify({
    // What examples name is there.
    providers: { alpha: { adapter: 'openai-compatible', base_url: 'https://api.alpha.example/v1' } },
    ...(written as object),
  });
}

test('lists every key of the schema on the page of the configuration', () => {
  assert.ok(values.length > 120, 'there are keys to list');
  checkPart({ page: PAGE, name: 'configuration' }, formatConfigurationReference());
});

suite('a key of the configuration', () => {
  for (const key of keys) {
    const name = key.path.join('.');
    test(`has a description, a default and an example: ${name}`, () => {
      const advice = 'use key(schema, sentence, facts) in src/config/schema.ts';
      assert.ok((key.what ?? '') !== '', `${name} has no description: ${advice}`);
      if (key.isSection) return;
      assert.ok(
        key.isRequired || key.default !== undefined || key.usual !== undefined,
        `${name} has no default: ${advice}`,
      );
      assert.ok(exampleOf(key) !== undefined, `${name} has no example: ${advice}`);
    });
  }
  for (const key of values)
    test(`accepts its example: ${key.path.join('.')}`, () => {
      read(fileWith(key, exampleOf(key)));
    });
  for (const key of values.filter((one) => one.default !== undefined))
    test(`has the default that the page shows: ${key.path.join('.')}`, () => {
      const { path } = key;
      const without = { ...key, path: path.slice(0, -1) };
      const beside = BESIDE[without.path.join('.')] ?? {};
      assert.deepEqual(read(fileWith(key, key.default)), read(fileWith(without, beside)));
    });
});

test('loads the examples of the page', () => {
  const page = readFileSync(new URL(`../../docs/${PAGE}`, import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
  assert.ok(examples.length > 0);
  for (const example of examples) read(example);
});
