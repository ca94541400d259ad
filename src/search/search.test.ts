import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { SearchEngineId, WebSearchOutcome, WebSearchQuery } from '../canonical/tools/web-search.ts';
import { createHttpClient } from '../lib/net/http-client.ts';
import { ENGINES } from './engines.ts';
import { createEnginePages } from './pages.ts';
import { VaultError } from '../canonical/vault-reference.ts';
import { createWebSearch } from './search.ts';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

const http = createHttpClient();
let server: Server;
let baseUrl = '';
let seen: Seen[] = [];
let answer: { status: number; body: unknown } = { status: 200, body: {} };
/** Takes the place of an answer: what the server does with the socket. */
let misbehave: ((response: ServerResponse) => void) | undefined;

before(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
      });
      if (misbehave !== undefined) return misbehave(response);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  await http.close();
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  seen = [];
  answer = { status: 200, body: {} };
  misbehave = undefined;
});

function search(query: Partial<WebSearchQuery>, ...set: readonly SearchEngineId[]): Promise<WebSearchOutcome> {
  const engines = new Map(set.map((id) => [id, { baseUrl, apiKey: `key-of-${id}` }] as const));
  return createWebSearch({ http, engines }).search(
    { text: 'what is new', resultsMax: 5, ...query },
    new AbortController().signal,
  );
}

interface EngineCase {
  readonly id: SearchEngineId;
  readonly query?: Partial<WebSearchQuery>;
  readonly path: string;
  readonly header: readonly [name: string, value: string | undefined];
  readonly body?: unknown;
  /** As its documentation shows it. */
  readonly answer: unknown;
  readonly content: string;
  readonly published?: string;
  readonly feeNanoUsd: number;
}

const PAGE = { url: 'https://a.example/one', title: 'One' };

const CASES: readonly EngineCase[] = [
  {
    id: 'exa',
    path: '/search',
    header: ['x-api-key', 'key-of-exa'],
    body: { query: 'what is new', type: 'auto', numResults: 5, contents: { highlights: true } },
    answer: {
      requestId: 'r',
      resolvedSearchType: 'neural',
      results: [
        {
          ...PAGE,
          id: 'https://a.example/one',
          publishedDate: '2026-10-01T00:00:00.000Z',
          highlights: ['first', 'second'],
        },
      ],
      costDollars: { total: 0.007 },
    },
    content: 'first\n[...]\nsecond',
    published: '2026-10-01T00:00:00.000Z',
    feeNanoUsd: 7_000_000,
  },
  {
    id: 'exa',
    query: {
      mode: 'deep-reasoning',
      contextSize: 'medium',
      includeSites: ['*.a.example', 'a.example/one'],
      excludeSites: ['b.example'],
    },
    path: '/search',
    header: ['x-api-key', 'key-of-exa'],
    body: {
      query: 'what is new',
      type: 'deep-reasoning',
      numResults: 5,
      includeDomains: ['*.a.example', 'a.example/one'],
      excludeDomains: ['b.example'],
      contents: { text: { maxCharacters: 15_000 } },
    },
    answer: { results: [{ ...PAGE, text: 'whole text' }] },
    content: 'whole text',
    feeNanoUsd: 15_000_000,
  },
  {
    id: 'parallel',
    query: { includeSites: ['https://a.example/one'], excludeSites: ['b.example'] },
    path: '/v1/search',
    header: ['x-api-key', 'key-of-parallel'],
    body: {
      search_queries: ['what is new'],
      objective: 'what is new',
      mode: 'basic',
      advanced_settings: {
        max_results: 5,
        excerpt_settings: { max_chars_per_result: 1_500 },
        source_policy: { include_domains: ['a.example'] },
      },
    },
    answer: {
      search_id: 'search_1',
      session_id: 's',
      results: [{ ...PAGE, publish_date: '2026-10-01', excerpts: ['an excerpt'] }],
    },
    content: 'an excerpt',
    published: '2026-10-01',
    feeNanoUsd: 5_000_000,
  },
  {
    id: 'parallel',
    query: { mode: 'turbo', contextSize: 'low' },
    path: '/v1/search',
    header: ['x-api-key', 'key-of-parallel'],
    body: {
      search_queries: ['what is new'],
      objective: 'what is new',
      mode: 'turbo',
      max_chars_total: 5_000,
      advanced_settings: { max_results: 5 },
    },
    answer: { search_id: 'search_1', results: [{ ...PAGE, title: null, excerpts: [] }] },
    content: '',
    feeNanoUsd: 1_000_000,
  },
  {
    id: 'perplexity',
    query: { resultsMax: 25, charsMax: 4_000, excludeSites: ['b.example', '*.c.example', 'd.example/x'] },
    path: '/search',
    header: ['authorization', 'Bearer key-of-perplexity'],
    body: { query: 'what is new', max_results: 20, search_domain_filter: ['-b.example'], max_tokens_per_page: 1_000 },
    answer: { id: 'i', results: [{ ...PAGE, snippet: 'a snippet', date: '2026-10-01', last_updated: null }] },
    content: 'a snippet',
    published: '2026-10-01',
    feeNanoUsd: 5_000_000,
  },
  {
    id: 'firecrawl',
    query: { includeSites: ['a.example'], excludeSites: ['b.example'] },
    path: '/v2/search',
    header: ['authorization', 'Bearer key-of-firecrawl'],
    body: { query: 'what is new', limit: 5, sources: ['web'], includeDomains: ['a.example'] },
    answer: { success: true, data: { web: [{ ...PAGE, description: 'a description', position: 1 }] } },
    content: 'a description',
    feeNanoUsd: 0,
  },
  {
    id: 'tavily',
    query: { includeSites: ['a.example'], excludeSites: ['b.example'] },
    path: '/search',
    header: ['authorization', 'Bearer key-of-tavily'],
    body: {
      query: 'what is new',
      search_depth: 'basic',
      max_results: 5,
      include_domains: ['a.example'],
      exclude_domains: ['b.example'],
    },
    answer: { query: 'what is new', results: [{ ...PAGE, content: 'a content', score: 0.9, raw_content: null }] },
    content: 'a content',
    feeNanoUsd: 8_000_000,
  },
  {
    id: 'brave',
    query: { includeSites: ['a.example'], excludeSites: ['b.example'] },
    path:
      '/web/search?q=what+is+new+site%3Aa.example+-site%3Ab.example&count=5&result_filter=web&extra_snippets=true' +
      '&text_decorations=false',
    header: ['x-subscription-token', 'key-of-brave'],
    answer: {
      type: 'search',
      web: {
        type: 'search',
        results: [{ ...PAGE, description: 'first', extra_snippets: ['second'], page_age: '2026-10-01' }],
      },
    },
    content: 'first\n[...]\nsecond',
    published: '2026-10-01',
    feeNanoUsd: 5_000_000,
  },
  {
    id: 'searxng',
    path: '/search?q=what+is+new&format=json',
    header: ['authorization', 'Bearer key-of-searxng'],
    answer: { query: 'what is new', results: [{ ...PAGE, content: 'a content', engine: 'x', publishedDate: null }] },
    content: 'a content',
    feeNanoUsd: 0,
  },
];

// @spec web-1
suite('a call of an engine', () => {
  for (const [index, one] of CASES.entries()) {
    test(`${one.id} ${index}`, async () => {
      answer = { status: 200, body: one.answer };
      const outcome = await search({ engine: one.id, ...one.query }, one.id);
      const [requested] = seen;
      assert.ok(requested !== undefined && seen.length === 1);
      assert.equal(requested.path, one.path);
      assert.equal(requested.method, one.body === undefined ? 'GET' : 'POST');
      assert.equal(requested.headers[one.header[0]], one.header[1]);
      assert.deepEqual(requested.body, one.body);
      const title = one.id === 'parallel' && one.content === '' ? PAGE.url : PAGE.title;
      assert.deepEqual(outcome, {
        status: 'found',
        engine: one.id,
        hits: [{ url: PAGE.url, title, content: one.content, ...(one.published && { published: one.published }) }],
        feeNanoUsd: one.feeNanoUsd,
      });
    });
  }

  // @spec web-1
  test('has a case for every engine', () => {
    assert.deepEqual(new Set(CASES.map(({ id }) => id)), new Set(Object.keys(ENGINES)));
  });
});

const results = (count: number): { results: object[] } => ({
  results: Array.from({ length: count }, (_, index) => ({ url: `https://a.example/${index}`, title: `T${index}` })),
});

// @spec web-4
test('costs the price with ten results, and 0.001 USD for each further one', async () => {
  answer.body = results(25);
  const fees: (number | undefined)[] = [];
  for (const resultsMax of [5, 10, 11, 25, 90]) {
    const found = await search({ engine: 'exa', resultsMax, mode: 'fast' }, 'exa');
    fees.push(found.status === 'found' ? found.feeNanoUsd : undefined);
  }
  assert.deepEqual(fees, [7_000_000, 7_000_000, 8_000_000, 22_000_000, 22_000_000]);
});

// @spec web-4
test('costs no more than announced', async () => {
  const engines = new Map(Object.values(ENGINES).map(({ id }) => [id, { baseUrl }] as const));
  const all = createWebSearch({ http, engines });
  for (const engine of Object.values(ENGINES)) {
    const list = results(40);
    answer.body = { ...list, data: { web: list.results }, type: 'search', web: list };
    for (const mode of [undefined, 'nonsense', ...engine.modes])
      for (const resultsMax of [1, 10, 30]) {
        const query = { text: 'x', engine: engine.id, resultsMax, mode };
        const found = await all.search(query, new AbortController().signal);
        assert.ok(found.status === 'found' && found.hits.length > 0, engine.id);
        assert.equal(found.feeNanoUsd, all.feeMax(query), `${engine.id} ${mode} ${resultsMax}`);
      }
  }
});

// @spec web-5
test('ignores a mode that the engine does not have', async () => {
  answer.body = results(1);
  await search({ engine: 'exa', mode: 'turbo' }, 'exa');
  await search({ engine: 'parallel', mode: 'deep' }, 'parallel');
  assert.deepEqual(
    seen.map(({ body }) => [Object(body).type, Object(body).mode]),
    [
      ['auto', undefined],
      [undefined, 'basic'],
    ],
  );
});

// @spec web-7
test('drops results that violate the domain lists', async () => {
  const urls = ['https://a.example/docs/x', 'https://a.example/blog', 'https://b.a.example/docs', 'https://c.example/'];
  answer.body = { results: urls.map((url) => ({ url, title: 'T', text: 'x' })) };
  const included = await search({ includeSites: ['a.example/docs'] }, 'parallel');
  const excluded = await search({ excludeSites: ['*.a.example', 'a.example/blog'] }, 'tavily');
  const urlsOf = (outcome: WebSearchOutcome) => outcome.status === 'found' && outcome.hits.map(({ url }) => url);
  assert.deepEqual(urlsOf(included), [urls[0], urls[2]]);
  assert.deepEqual(urlsOf(excluded), [urls[0], urls[3]]);
});

test('hits without an address of their own are left out, and long ones are cut', async () => {
  answer.body = {
    results: [
      { title: 'none' },
      { url: 'nonsense' },
      { url: 'javascript:alert(1)' },
      { url: `https://a.example/${'x'.repeat(4_096)}` },
      null,
      { url: 'https://a.example/', text: 'word '.repeat(50) },
    ],
  };
  const found = await search({ charsMax: 22 }, 'exa');
  assert.deepEqual(found.status === 'found' && found.hits, [
    { url: 'https://a.example/', title: 'https://a.example/', content: 'word word word word' },
  ]);
});

suite('an engine that knows operators instead of lists', () => {
  const requestedOf = async (query: Partial<WebSearchQuery>, id: 'brave' | 'searxng'): Promise<string> => {
    answer.body = { type: 'search', results: [] };
    await search(query, id);
    return new URL(seen.at(-1)?.path ?? '', baseUrl).searchParams.get('q') ?? '';
  };

  test('sends domains instead of text when there is no room for both', async () => {
    const requested = await requestedOf(
      { text: 'word '.repeat(80), includeSites: ['a.example', 'b.example/docs'] },
      'brave',
    );
    assert.ok(requested.endsWith('word (site:a.example OR site:b.example/docs)'), requested);
    assert.equal(requested.split(' ').length, 50, 'as many words as it takes');
    assert.ok(requested.length <= 400);
  });

  test('sends as many excluded domains as fit, and none when there are too many', async () => {
    const excludeSites = Array.from({ length: 100 }, (_, index) => `host${index}.example`);
    const left = await requestedOf({ text: 'word', excludeSites }, 'brave');
    assert.ok(left.startsWith('word -site:host0.example') && left.length <= 400 && left.split(' ').length <= 50);
    const includeSites = Array.from({ length: 100 }, (_, index) => `host${index}.example`);
    assert.equal(await requestedOf({ text: 'word', includeSites }, 'searxng'), 'word');
  });
});

test('shares the room of a prompt between many long results', async () => {
  answer.body = {
    results: Array.from({ length: 25 }, (_, index) => ({
      url: `https://a.example/${index}`,
      title: 'word '.repeat(200),
      text: 'word '.repeat(30_000),
    })),
  };
  const found = await search({ resultsMax: 25 }, 'exa');
  assert.ok(found.status === 'found' && found.hits.length === 25);
  const chars = found.hits.reduce((sum, { content, title }) => sum + content.length + title.length, 0);
  assert.ok(chars < 520_000 && found.hits.every(({ content }) => content.length > 19_000), `${chars}`);
});

suite('a search that fails costs nothing and says why', () => {
  const FAILURES: readonly (readonly [status: number, reason: string, message: RegExp])[] = [
    [401, 'unavailable', /refused the gateway's credentials \(status 401\)/],
    [402, 'unavailable', /no credit left/],
    [429, 'too_many_requests', /too many requests/],
    [500, 'unavailable', /failed with status 500/],
  ];
  for (const [status, reason, message] of FAILURES) {
    test(`status ${status}`, async () => {
      answer = { status, body: { error: 'a secret of the account' } };
      const failed = await search({}, 'exa');
      assert.ok(failed.status === 'failed');
      assert.equal(failed.reason, reason);
      assert.match(failed.message, message);
      assert.doesNotMatch(failed.message, /secret/);
    });
  }

  test('reports a response of another shape', async () => {
    for (const body of [{}, [], { results: 'x' }, null]) {
      answer = { status: 200, body };
      const failed = await search({}, 'exa');
      assert.ok(failed.status === 'failed' && failed.reason === 'unavailable');
    }
  });

  test('reports a broken connection', async () => {
    misbehave = (response) => response.writeHead(200).write('{"results": [', () => response.destroy());
    const failed = await search({}, 'exa');
    assert.deepEqual(failed, {
      status: 'failed',
      reason: 'unavailable',
      message: 'The search engine exa could not be reached.',
    });
  });

  test('aborts when the caller hangs up', async () => {
    const left = new AbortController();
    misbehave = () => left.abort();
    const engines = new Map([['exa', { baseUrl, apiKey: 'k' }]] as const);
    const failed = await createWebSearch({ http, engines }).search({ text: 'x', resultsMax: 1 }, left.signal);
    assert.ok(failed.status === 'failed' && failed.message.includes('the request has ended'));
  });

  test('needs a query and an engine', async () => {
    const reasons: unknown[] = [];
    for (const [query, ...set] of [
      [{ text: ' ' }, 'exa'],
      [{ text: 'x'.repeat(2_001) }, 'exa'],
      [{ includeSites: ['not a site'] }, 'exa'],
      [{ engine: 'exa' }, 'tavily'],
      [{}],
    ] as const) {
      const failed = await search(query, ...set);
      reasons.push(failed.status === 'failed' && failed.reason);
    }
    assert.deepEqual(reasons, ['invalid_input', 'query_too_long', 'invalid_input', 'unavailable', 'unavailable']);
    assert.equal(seen.length, 0);
  });
});

// @spec web-2
test("uses the operator's engine, otherwise the first configured one", () => {
  const engines = new Map([
    ['searxng', { baseUrl }],
    ['parallel', { baseUrl }],
  ] as const);
  assert.equal(createWebSearch({ http, engines }).engineFor(undefined), 'parallel');
  assert.equal(createWebSearch({ http, engines, preferred: 'searxng' }).engineFor(undefined), 'searxng');
  assert.equal(createWebSearch({ http, engines }).engineFor('exa'), undefined);
  assert.equal(createWebSearch({ http, engines: new Map() }).engineFor(undefined), undefined);
});

suite('a page is read at an engine', () => {
  const pages = () => {
    const engines = new Map(Object.values(ENGINES).map(({ id }) => [id, { baseUrl, apiKey: 'k' }] as const));
    return createEnginePages({ http, engines, nowMs: () => Date.UTC(2026, 10, 21) });
  };
  const READ: readonly (readonly [SearchEngineId, path: string, body: object, answer: object, fee: number])[] = [
    [
      'exa',
      '/contents',
      { urls: ['https://a.example/'], text: { maxCharacters: 12 } },
      { results: [{ url: 'https://a.example/', title: 'T', text: 'a page with more' }], statuses: [] },
      1_000_000,
    ],
    [
      'parallel',
      '/v1/extract',
      { urls: ['https://a.example/'], advanced_settings: { full_content: { max_chars_per_result: 12 } } },
      {
        results: [{ url: 'https://a.example/', title: 'T', excerpts: [], full_content: 'a page with more' }],
        errors: [],
      },
      1_000_000,
    ],
    [
      'firecrawl',
      '/v2/scrape',
      { url: 'https://a.example/', formats: ['markdown'], onlyMainContent: true },
      {
        success: true,
        data: { markdown: 'a page with more', metadata: { title: 'T', sourceURL: 'https://a.example/' } },
      },
      0,
    ],
  ];
  for (const [id, path, body, given, feeNanoUsd] of READ) {
    test(id, async () => {
      answer.body = given;
      const page = await pages().read(id, 'https://a.example/', 12, new AbortController().signal);
      assert.deepEqual([seen[0]?.path, seen[0]?.body], [path, body]);
      assert.deepEqual(page, {
        status: 'completed',
        url: 'https://a.example/',
        title: 'T',
        content: 'a page with',
        isCut: true,
        retrievedAt: '2026-11-21T00:00:00.000Z',
        feeNanoUsd,
      });
    });

    test(`reports an unreadable page: ${id}`, async () => {
      answer.body = {
        results: [],
        data: {},
        statuses: [{ id: 'x', status: 'error', error: { tag: 'CRAWL_NOT_FOUND' } }],
      };
      const page = await pages().read(id, 'https://a.example/', 12, new AbortController().signal);
      assert.ok(page.status === 'failed' && page.reason === 'url_not_accessible');
    });
  }

  test('engines that only search read none', () => {
    assert.deepEqual(
      Object.values(ENGINES).map(({ id }) => [id, pages().has(id)]),
      [
        ['exa', true],
        ['parallel', true],
        ['perplexity', false],
        ['tavily', false],
        ['brave', false],
        ['firecrawl', true],
        ['searxng', false],
      ],
    );
  });
});

suite('a key that names a secret of the vault', () => {
  const filled = (fill: () => Promise<{ baseUrl: string; apiKey: string }>) =>
    createWebSearch({ http, engines: new Map([['exa', { baseUrl, apiKey: 'vault:exa', fill }]]) }).search(
      { text: 'what is new', resultsMax: 5 },
      new AbortController().signal,
    );

  // @spec vault-18
  test('is filled in for each call, and fails that call alone where it is missing', async () => {
    answer = { status: 200, body: { results: [] } };
    await filled(() => Promise.resolve({ baseUrl, apiKey: 'the value' }));
    assert.equal(seen.at(-1)?.headers['x-api-key'], 'the value');
    const failed = await filled(() => Promise.reject(new VaultError('credential_missing', 'There is no secret.')));
    assert.partialDeepStrictEqual(failed, { status: 'failed', reason: 'unavailable' });
    assert.equal(seen.length, 1);
  });
});
