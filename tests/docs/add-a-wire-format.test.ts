import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type * as appModule from '../../src/app.ts';
import type { App } from '../../src/app.ts';
import type * as loadModule from '../../src/config/load-config.ts';
import { parseJsonObject } from '../../src/lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../src/wire/json-fields.ts';
import type * as providersModule from '../../src/providers/index.ts';
import type * as logsModule from '../../src/telemetry/logs.ts';
import { formatOfPage } from '../additions/page-format.ts';
import type { Addition } from '../additions/addition.ts';
import { copyWithAdditions } from '../additions/scratch.ts';
import { API_KEY, MANAGEMENT_KEY, postTo } from '../support/gateway.ts';
import { json, sse, startUpstream, stream, type ScriptedUpstream } from '../support/upstream.ts';

const FORMAT = formatOfPage();

/** A provider that speaks nothing but the format of the page. */
const PROVIDER: Addition = {
  row: 'a provider with quirks',
  creates: {
    'src/providers/plain/adapter.ts': `
import type { ProviderAdapter } from '../contract.ts';
export const plainAdapter: ProviderAdapter = {
  id: 'plain',
  name: 'Plain',
  formats: [{ format: 'plain' }],
  dialect: () => ({}),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { authorization: 'Bearer ' + settings.apiKey }),
};
`,
  },
  inserts: [
    { path: 'src/providers/index.ts', before: '', text: "import { plainAdapter } from './plain/adapter.ts';\n" },
    { path: 'src/providers/index.ts', before: '  sandbox: sandboxAdapter,', text: '  plain: plainAdapter,\n' },
  ],
};

const QUESTION = { model: 'alpha/one', messages: [{ role: 'user', content: 'Hello?' }], max_completion_tokens: 50 };

suite('the wire format that the page shows', () => {
  let folder = '';
  let upstream: ScriptedUpstream;
  let app: App | undefined;
  let post: ReturnType<typeof postTo>;

  before(async () => {
    upstream = await startUpstream(json(500, {}));
    folder = copyWithAdditions([FORMAT, PROVIDER]);
    const load = async <Module>(path: string): Promise<Module> =>
      (await import(pathToFileURL(join(folder, path)).href)) as Module;
    const providers = await load<typeof providersModule>('src/providers/index.ts');
    const { loadConfig } = await load<typeof loadModule>('src/config/load-config.ts');
    const { createApp } = await load<typeof appModule>('src/app.ts');
    const { createLog } = await load<typeof logsModule>('src/telemetry/logs.ts');
    const env = { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY };
    const endpoint = { provider: 'plain', model: 'one-2026', price: { prompt: 1, completion: 2 } };
    const config = loadConfig({
      argv: ['--config', 'test.yaml', '--port', '0', '--data-dir', join(folder, 'data')],
      env,
      readFile: () =>
        JSON.stringify({
          providers: { plain: { base_url: upstream.baseUrl, api_key: 'upstream-secret' } },
          models: { 'alpha/one': { endpoints: [endpoint] } },
        }),
      adapterIds: providers.ADAPTER_IDS,
      adapterOptions: providers.ADAPTER_OPTIONS,
      providerIds: providers.KNOWN_PROVIDER_IDS,
    });
    app = await createApp({ config, env, log: createLog('silent') });
    post = postTo(`${(await app.listen()).url}/v1`);
  });

  after(async () => {
    await app?.close();
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is a folder and one line', () => {
    const paths = Object.keys(FORMAT.creates);
    assert.deepEqual(
      paths.filter((path) => !path.startsWith('src/wire/plain/')),
      [],
    );
    assert.ok(paths.includes('src/wire/plain/format.ts'));
    const [, registered, ...others] = FORMAT.inserts;
    assert.deepEqual(others, []);
    assert.equal(registered?.text.trim(), 'plain: plainUpstreamFormat,');
  });

  test('serves a whole response', async () => {
    upstream.script = json(200, { text: 'Hello.', why: 'done', read: 3, wrote: 2 });
    const response = await post('/chat/completions', QUESTION);
    const body = objectOf(await response.json());
    assert.equal(response.status, 200, JSON.stringify(body));
    const [choice] = objectsOf(body?.['choices']);
    assert.equal(objectOf(choice?.['message'])?.['content'], 'Hello.');
    assert.equal(choice?.['finish_reason'], 'stop');
    assert.equal(objectOf(body?.['usage'])?.['total_tokens'], 5);
    const sent = upstream.arrived.at(-1);
    assert.equal(sent?.path, '/v1/say');
    assert.deepEqual(sent.body, { model: 'one-2026', lines: [{ from: 'user', text: 'Hello?' }], most_words: 50 });
  });

  test('serves a stream, to a caller of another format', async () => {
    upstream.script = stream(sse([{ piece: 'Hel' }, { piece: 'lo.' }, { why: 'cut', read: 3, wrote: 2 }]));
    const response = await post('/messages', { ...QUESTION, max_tokens: 50, stream: true });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => parseJsonObject(data) ?? {});
    const said = events.map(({ delta }) => textOf(objectOf(delta)?.['text']) ?? '').join('');
    assert.equal(said, 'Hello.');
    assert.ok(events.some(({ delta }) => objectOf(delta)?.['stop_reason'] === 'max_tokens'));
    assert.equal(upstream.arrived.at(-1)?.body['stream'], true);
  });

  test('fails a stream without its end', async () => {
    upstream.script = stream(sse([{ piece: 'Hel' }]));
    const response = await post('/chat/completions', { ...QUESTION, stream: true });
    assert.match(await response.text(), /"finish_reason":"error"/);
  });
});

test('the page about a wire format names files of the sources that are there', () => {
  const page = readFileSync(new URL('../../docs/add-a-wire-format.md', import.meta.url), 'utf8');
  for (const [, path = ''] of page.matchAll(/\]\(\.\.\/(src\/[^)#]+)\)/g))
    assert.ok(readFileSync(new URL(`../../${path}`, import.meta.url)).length > 0, path);
});
