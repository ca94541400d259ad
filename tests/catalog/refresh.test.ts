import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { KnownModel } from '../../src/catalog/built-in.ts';
import { createRefreshFile } from '../../src/catalog/refresh-file.ts';
import { refreshCatalog, RefreshError } from '../../src/catalog/refresh.ts';
import { createCatalogRefresher } from '../../src/app/catalog/catalog-refresher.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createDownloader } from '../../src/lib/net/download.ts';
import { startGateway } from '../support/gateway.ts';

const LOOPBACK = { isAllowed: () => true, protocols: ['http:'] };
const SLUGS = new Map([['openai', 'openai']]);

function listOf(price: { input: number; output: number }): object {
  const model = {
    id: 'gpt-next',
    name: 'GPT Next',
    release_date: '2026-11-01',
    modalities: { input: ['text'], output: ['text'] },
    limit: { context: 400_000, output: 64_000 },
    cost: price,
  };
  return { openai: { id: 'openai', models: { 'gpt-next': model } } };
}

interface ListServer {
  readonly url: string;
  requestedCount: number;
  answer: (response: ServerResponse) => void;
}

async function startList(t: TestContext, first: object): Promise<ListServer> {
  const server = createServer((_request, response) => {
    list.requestedCount++;
    list.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const list: ListServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`,
    requestedCount: 0,
    answer: (response) => response.end(JSON.stringify(first)),
  };
  return list;
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'refresh-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The input of `refreshCatalog`, over loopback. */
function optionsFor(t: TestContext, url: string, folder: string) {
  const downloader = createDownloader(LOOPBACK);
  t.after(() => downloader.close());
  return {
    url,
    download: downloader.download,
    file: createRefreshFile(folder),
    slugs: SLUGS,
    nowMs: Date.parse('2026-11-21T00:00:00Z'),
    signal: new AbortController().signal,
  };
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if (await isTrue()) return;
    await wait(25);
  }
  assert.fail('never became true');
}

suite('one refresh', () => {
  test('stores the list on disk as a whole, with its source and date, and leaves no other file', async (t) => {
    const folder = await makeFolder(t);
    const { url } = await startList(t, listOf({ input: 3, output: 9 }));
    const list = await refreshCatalog(optionsFor(t, url, folder));
    assert.deepEqual([list.source, list.fetched], [url, '2026-11-21T00:00:00.000Z']);
    assert.deepEqual(await createRefreshFile(folder).read(), list);
    assert.deepEqual(await readdir(folder), ['catalog-refresh.json']);
  });

  const BROKEN: readonly (readonly [name: string, answer: ListServer['answer']])[] = [
    ['an error', (response) => response.writeHead(500).end('{}')],
    ['no JSON', (response) => response.end('<html>')],
    ['another list', (response) => response.end('{"somebody":{"models":{}}}')],
    ['an answer that is too large', (response) => response.writeHead(200, { 'content-length': 1e9 }).end('x')],
    ['a redirect to nowhere', (response) => response.writeHead(302).end()],
  ];
  for (const [name, answer] of BROKEN)
    test(`fails with one sentence and keeps the last list with ${name}`, async (t) => {
      const folder = await makeFolder(t);
      const server = await startList(t, listOf({ input: 3, output: 9 }));
      const options = optionsFor(t, server.url, folder);
      await refreshCatalog(options);
      const before = await readFile(options.file.path, 'utf8');
      server.answer = answer;
      await assert.rejects(refreshCatalog(options), (error: unknown) => {
        assert.ok(error instanceof RefreshError, String(error));
        assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+\/api\.json: .*\.$/);
        return true;
      });
      assert.equal(await readFile(options.file.path, 'utf8'), before);
    });

  // @spec media-3
  test('fetches no address of a private network', async (t) => {
    const server = await startList(t, {});
    const downloader = createDownloader({ protocols: ['http:'] });
    t.after(() => downloader.close());
    const options = { ...optionsFor(t, server.url, await makeFolder(t)), download: downloader.download };
    await assert.rejects(refreshCatalog(options), /not on the public Internet/);
    assert.equal(server.requestedCount, 0);
  });

  test('keeps a price that jumped until an operator accepts it', async (t) => {
    const folder = await makeFolder(t);
    const server = await startList(t, listOf({ input: 3, output: 9 }));
    const options = optionsFor(t, server.url, folder);
    await refreshCatalog(options);
    server.answer = (response) => response.end(JSON.stringify(listOf({ input: 0.3, output: 0.9 })));
    const careful = await refreshCatalog(options);
    assert.equal(careful.endpoints[0]?.price?.prompt, 3);
    assert.deepEqual(careful.refused, [{ provider: 'openai', model: 'gpt-next', fault: 'moved too far' }]);
    const reported = await refreshCatalog({ ...options, isMoveFine: true });
    assert.equal(reported.endpoints[0]?.price?.prompt, 0.3);
  });
});

test('ignores a corrupt file', async (t) => {
  const folder = await makeFolder(t);
  const file = createRefreshFile(folder);
  assert.equal(await file.read(), undefined);
  for (const text of ['', '{', '[]', '{"version":1}', '{"version":2,"endpoints":[]}']) {
    await writeFile(file.path, text);
    assert.equal(await file.read(), undefined, text);
  }
});

suite('a gateway with catalog.refresh', () => {
  const env = { OPENAI_API_KEY: 'openai-secret' };
  const yamlOf = (url: string): string => `catalog: { refresh: { enabled: true, url: "${url}" } }`;

  test('lists models of the list at its prices as not reviewed, and those of the project unchanged', async (t) => {
    const { url } = await startList(t, listOf({ input: 3, output: 9 }));
    const gateway = await startGateway({ yaml: yamlOf(url), env, downloads: LOOPBACK });
    t.after(() => gateway.close());
    const find = async (id: string) => {
      const answer = (await (await fetch(`${gateway.baseUrl}/models`)).json()) as {
        data: readonly { id: string; description: string; context_length: number; pricing: { prompt: string } }[];
      };
      return answer.data.find((model) => model.id === id);
    };
    await until(async () => (await find('openai/gpt-next')) !== undefined);
    const next = await find('openai/gpt-next');
    assert.equal(next?.pricing.prompt, '0.000003');
    assert.equal(next.context_length, 400_000);
    assert.match(next.description, /not reviewed/);
    const known = await find('openai/gpt-5.1');
    assert.equal(known?.pricing.prompt, '0.00000125');
    assert.doesNotMatch(known.description, /not reviewed/);
  });

  test('is off unless the operator turns it on', async (t) => {
    const server = await startList(t, listOf({ input: 3, output: 9 }));
    const yaml = `catalog: { refresh: { url: "${server.url}" } }`;
    const gateway = await startGateway({ yaml, env, downloads: LOOPBACK });
    t.after(() => gateway.close());
    await wait(200);
    assert.equal(server.requestedCount, 0);
  });
});

suite('the refresher', () => {
  function refresherOf(t: TestContext, folder: string, url: string) {
    const downloader = createDownloader(LOOPBACK);
    const learned: (readonly KnownModel[])[] = [];
    const warnings: object[] = [];
    const refresher = createCatalogRefresher({
      url,
      everyMs: 3_600_000,
      overridePrices: false,
      fetches: true,
      dataDir: folder,
      known: [],
      live: { learned: (known) => learned.push(known) },
      download: downloader.download,
      clock: systemClock,
      random: () => 0,
      log: { info: () => undefined, warn: (fields) => warnings.push(fields) },
    });
    t.after(async () => {
      refresher.stop();
      await downloader.close();
    });
    return { refresher, learned, warnings };
  }

  // @spec catalog-20
  test('starts with the stored list, and fetches nothing while that is fresh', async (t) => {
    const folder = await makeFolder(t);
    const server = await startList(t, listOf({ input: 3, output: 9 }));
    await refreshCatalog({ ...optionsFor(t, server.url, folder), nowMs: Date.now() });
    const { refresher, learned } = refresherOf(t, folder, server.url);
    await refresher.load();
    assert.deepEqual(
      learned.map((known) => known.map(({ facts }) => facts.slug)),
      [['openai/gpt-next']],
    );
    refresher.start();
    await wait(200);
    assert.equal(server.requestedCount, 1);
  });

  test('keeps the stored list when the new one cannot be fetched', async (t) => {
    const folder = await makeFolder(t);
    const server = await startList(t, listOf({ input: 3, output: 9 }));
    await refreshCatalog(optionsFor(t, server.url, folder));
    server.answer = (response) => response.writeHead(503).end();
    const { refresher, learned, warnings } = refresherOf(t, folder, server.url);
    refresher.start();
    await until(() => warnings.length === 1);
    assert.equal(learned.length, 1);
    assert.match(JSON.stringify(warnings), /status 503/);
  });
});
