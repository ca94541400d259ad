import assert from 'node:assert/strict';
import { SERVICE } from '../support/http/destination-configs.ts';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, suite, test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import type * as appModule from '../../src/app.ts';
import type * as openApiModule from '../../src/app/openapi-document.ts';
import type * as upstreamFormatsModule from '../../src/app/upstream-formats.ts';
import type * as guardrailRulesModule from '../../src/canonical/guardrail-rules.ts';
import type * as cliModule from '../../src/cli/main.ts';
import type * as loadModule from '../../src/config/load-config.ts';
import type * as renderModule from '../../src/config/render.ts';
import type * as contentFiltersModule from '../../src/content-filters/index.ts';
import type * as textViewModule from '../../src/content-filters/text-view.ts';
import type * as clockModule from '../../src/lib/clock.ts';
import type * as pluginsModule from '../../src/plugins/index.ts';
import type * as providersModule from '../../src/providers/index.ts';
import type * as databaseModule from '../../src/store/engine/database.ts';
import type * as registryModule from '../../src/telemetry/destinations/registry.ts';
import type * as logsModule from '../../src/telemetry/logs.ts';
import type * as metricsModule from '../../src/telemetry/metrics.ts';
import type * as toolsModule from '../../src/tools/index.ts';
import type * as toolSchemaModule from '../../src/wire/chat/request/tool-schema.ts';
import { ADDITIONS } from '../additions/rows.ts';
import { copyWithAdditions } from '../additions/scratch.ts';

const CONTRIBUTING = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
const MANAGEMENT_KEY = 'test-management-key-0123456789abcdef';
/** Keys that only the copy knows. */
const YAML = 'observability: { example_destinations: true }\nproviders: { example: { api_key: upstream-secret } }\n';

let folder = '';

/** A module of the copy, whose types are those of the original. */
const load = async <Module>(path: string): Promise<Module> =>
  (await import(pathToFileURL(join(folder, path)).href)) as Module;

async function loadConfig() {
  const { ADAPTER_IDS, ADAPTER_OPTIONS, KNOWN_PROVIDER_IDS } =
    await load<typeof providersModule>('src/providers/index.ts');
  const module = await load<typeof loadModule>('src/config/load-config.ts');
  return module.loadConfig({
    argv: ['--config', 'test.yaml', '--port', '0', '--data-dir', join(folder, 'data')],
    env: { GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY },
    readFile: () => YAML,
    adapterIds: ADAPTER_IDS,
    adapterOptions: ADAPTER_OPTIONS,
    providerIds: KNOWN_PROVIDER_IDS,
  });
}

/** That each of them is there and does something. The whole of `src` is loaded once. */
const PROOFS: Readonly<Record<string, (t: TestContext) => Promise<void>>> = {
  async 'a provider with quirks'() {
    const { ADAPTER_IDS } = await load<typeof providersModule>('src/providers/index.ts');
    assert.ok(ADAPTER_IDS.some((id: string) => id === 'example'));
    const { providers } = await loadConfig();
    assert.deepEqual(
      providers.map(({ slug, adapter }) => [slug, adapter]),
      [['example', 'example']],
    );
  },
  async 'a wire format'() {
    const { UPSTREAM_FORMATS } = await load<typeof upstreamFormatsModule>('src/app/upstream-formats.ts');
    const formats: Readonly<Record<string, { readonly id: string }>> = UPSTREAM_FORMATS;
    assert.equal(formats['plain']?.id, 'plain');
  },
  async 'a plugin'() {
    const { pluginSchema } = await load<typeof pluginsModule>('src/plugins/index.ts');
    assert.deepEqual(pluginSchema.parse({ id: 'example', loud: true }), {
      id: 'example',
      enabled: true,
      options: { loud: true },
    });
  },
  async 'a server tool'() {
    const { SERVER_TOOLS } = await load<typeof toolsModule>('src/tools/index.ts');
    assert.ok(SERVER_TOOLS.has('service:example'));
    const { tool } = await load<typeof toolSchemaModule>('src/wire/chat/request/tool-schema.ts');
    assert.ok(tool.safeParse({ type: 'service:example' }).success);
  },
  async 'a built-in content filter'() {
    const { CONTENT_FILTERS: GUARDRAILS } = await load<typeof contentFiltersModule>('src/content-filters/index.ts');
    const { createTextView } = await load<typeof textViewModule>('src/content-filters/text-view.ts');
    const rules = await load<typeof guardrailRulesModule>('src/canonical/guardrail-rules.ts');
    const slug = rules.BUILTIN_FILTER_SLUGS.find((one) => rules.LABEL_OF_BUILTIN[one] === '[PLATE]');
    assert.ok(slug !== undefined);
    const rule = {
      kind: 'builtin',
      slug,
      action: 'redact',
      label: '[PLATE]',
      userOnly: false,
      allowedPhrases: [],
    } as const;
    const found = GUARDRAILS['sensitive-data'].matcherOf(rule)?.find(createTextView('a car, EX-1234'));
    assert.deepEqual(found, [{ start: 7, end: 14, pattern: 'plate' }]);
  },
  async 'a CLI command'() {
    const { runCli } = await load<typeof cliModule>('src/cli/main.ts');
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    assert.equal(await runCli(['example', 'of', 'one'], { env: {}, stdin, stdout, stderr }), 0);
    assert.equal(String(stdout.read()), 'an example: of one\n');
    assert.equal(await runCli(['example', '--help'], { env: {}, stdin, stdout, stderr }), 0);
    assert.equal(String(stdout.read()), 'Usage: model-gateway example\n');
  },
  async 'a key of the configuration'() {
    const { renderConfig } = await load<typeof renderModule>('src/config/render.ts');
    assert.match(renderConfig(await loadConfig()), /^ {2}example_destinations: true$/m);
  },
  async 'a kind of destination'() {
    const { DESTINATION_TYPES } = await load<typeof registryModule>('src/telemetry/destinations/registry.ts');
    const found = DESTINATION_TYPES.find(({ type }) => type === 'example');
    assert.equal(found?.open({ url: 'https://example.test' }, SERVICE).url, 'https://example.test');
  },
  async 'a management route'(t) {
    const { createApp } = await load<typeof appModule>('src/app.ts');
    const { createLog } = await load<typeof logsModule>('src/telemetry/logs.ts');
    const app = await createApp({ config: await loadConfig(), env: {}, log: createLog('silent') });
    t.after(() => app.close());
    const { url } = await app.listen();
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` };
    assert.deepEqual(await (await fetch(`${url}/v1/example`, { headers })).json(), { data: 'one' });
    assert.equal((await fetch(`${url}/v1/example`)).status, 401);
  },
  async 'a table or a column'() {
    const { openDatabase } = await load<typeof databaseModule>('src/store/engine/database.ts');
    const { systemClock } = await load<typeof clockModule>('src/lib/clock.ts');
    const database = await openDatabase({ path: join(folder, 'examples.db'), clock: systemClock });
    const { rows } = await sql`select count(*) as n from examples`.execute(database.kysely);
    assert.deepEqual(rows, [{ n: 0 }]);
    await database.close();
  },
  async 'a setting of a resource'(t) {
    const { createApp } = await load<typeof appModule>('src/app.ts');
    const { createLog } = await load<typeof logsModule>('src/telemetry/logs.ts');
    const { openApiDocument } = await load<typeof openApiModule>('src/app/openapi-document.ts');
    const app = await createApp({ config: await loadConfig(), env: {}, log: createLog('silent') });
    t.after(() => app.close());
    const { url } = await app.listen();
    const send = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await fetch(`${url}/v1${path}`, init);
      const answer = (await response.json()) as { data: { hash: string; notes: unknown } };
      return { status: response.status, body: answer };
    };
    const { body: created } = await send('POST', '/keys', { name: 'noted', notes: 'first' });
    assert.equal(created.data.notes, 'first');
    const path = `/keys/${created.data.hash}`;
    assert.equal((await send('PATCH', path, { name: 'renamed' })).body.data.notes, 'first');
    assert.equal((await send('PATCH', path, { notes: 'second' })).body.data.notes, 'second');
    assert.equal((await send('GET', path)).body.data.notes, 'second');
    assert.equal((await send('PATCH', path, { notes: null })).body.data.notes, null);
    assert.equal((await send('POST', '/keys', { name: 'without' })).body.data.notes, null);
    const { status, body: refused } = await send('POST', '/keys', { name: 'wrong', notes: 1 });
    assert.equal(status, 400);
    assert.match(JSON.stringify(refused), /notes/);
    const { components } = openApiDocument() as unknown as {
      components: { schemas: Record<string, { properties: Record<string, unknown> }> };
    };
    const shape = { anyOf: [{ type: 'string', maxLength: 100 }, { type: 'null' }] };
    for (const id of ['ApiKey', 'CreateKeyRequest', 'UpdateKeyRequest'])
      assert.deepEqual(components.schemas[id]?.properties['notes'], shape, id);
  },
  async 'a metric'() {
    const { createMetrics } = await load<typeof metricsModule>('src/telemetry/metrics.ts');
    assert.match(await createMetrics().text(), /^gateway_examples_total 0$/m);
  },
};

suite('additions of the table "How to add"', () => {
  before(() => {
    folder = copyWithAdditions(ADDITIONS);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { row, inserts } of ADDITIONS)
    test(row, async (t) => {
      const line = CONTRIBUTING.split('\n').find((text) => text.startsWith(`| ${row}`)) ?? '';
      for (const { path } of inserts) assert.ok(line.includes(`\`${path}\``), `the row names ${path}`);
      await PROOFS[row]?.(t);
      assert.ok(PROOFS[row] !== undefined, 'it is proven');
    });

  test('has a sample for each row', () => {
    const [, table = ''] = CONTRIBUTING.split('\n## How to add\n');
    const rows = [...table.matchAll(/^\| (a .+?) \|/gm)].map(([, name = '']) => name.replace(/ \(\[.*/, ''));
    assert.deepEqual(
      rows.filter((name) => name !== 'a provider that speaks a known format').toSorted(),
      ADDITIONS.map(({ row }) => row).toSorted(),
    );
  });
});
