import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { makePdf } from '../support/files/make-pdf.ts';
import { objectOf } from '../support/reported.ts';
import {
  ask,
  ASKINGS,
  nameOf,
  recordOf,
  startToolTurns,
  type Asking,
  type Model,
  type ToolTurns,
} from '../support/tool-turns.ts';
import { json, startUpstream, type Arrived, type Script, type ScriptedUpstream } from '../support/upstream.ts';
import { FOUND } from '../support/web.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: false };
const MESSAGES: Asking = { format: 'messages', model: 'acme/messages', stream: false };
/** 10 prompt tokens at 1 USD and 5 at 2 USD a million. */
const TURN_NANO_USD = 20_000;

interface Setup extends ToolTurns {
  readonly engine: ScriptedUpstream;
}

async function start(
  t: TestContext,
  model: Model,
  { engine: script = json(200, FOUND), yaml = '' } = {},
): Promise<Setup> {
  const engine = await startUpstream(script);
  t.after(() => engine.close());
  const base = engine.baseUrl.replace('/v1', '');
  const turns = await startToolTurns(t, model, {
    yaml: `search: { exa: { api_key: engine-secret, base_url: "${base}" } }\n${yaml}`,
  });
  return { ...turns, engine };
}

const search = (...queries: readonly string[]) => ({
  calls: queries.map((query, index) => ({
    id: `call_${index}`,
    name: 'service_web_search',
    input: JSON.stringify({ query }),
  })),
});
const fetchPage = (...urls: readonly string[]) => ({
  calls: urls.map((url, index) => ({ id: `call_${index}`, name: 'service_web_fetch', input: JSON.stringify({ url }) })),
});

/** Calls once, and answers when it has what it wanted. */
const once =
  (stated: ReturnType<typeof search>): Model =>
  (arrived) =>
    resultsIn(arrived).length === 0 ? stated : { text: 'Done.' };

/** What the model was given back for its calls, in either format. */
function resultsIn({ body }: Arrived): readonly unknown[] {
  const messages = body['messages'] as readonly { readonly role: string; readonly content: unknown }[];
  return messages.flatMap(({ role, content }) => {
    if (role === 'tool') return [parse(content)];
    if (!Array.isArray(content)) return [];
    return (content as readonly { readonly type: string; readonly content: unknown }[])
      .filter(({ type }) => type === 'tool_result')
      .map((block) => parse(block.content));
  });
}

function parse(content: unknown): unknown {
  const text = Array.isArray(content) ? (content as readonly { readonly text: string }[])[0]?.text : content;
  // Formats that have no sign for a failed call say it in words.
  return JSON.parse(String(text).replace(/^Error: /, '')) as unknown;
}

const HITS = [
  { url: 'https://a.example/one', title: 'One', content: 'what one says', page_age: '2026-11-01' },
  { url: 'https://b.example/two/', title: 'Two', content: 'what two says' },
];
const EXA = [{ type: 'service:web_search', parameters: { engine: 'exa' } }];

suite('a model that searches the web', () => {
  for (const asking of ASKINGS)
    // @spec web-18
    test(`reads the results: ${nameOf(asking)}`, async (t) => {
      const setup = await start(t, once(search('news')));
      const reported = await ask(setup, asking, { tools: EXA });
      assert.equal(reported.status, 200);
      assert.equal(reported.text, 'Done.');
      const upstream = asking.model === 'acme/chat' ? setup.chat : setup.messages;
      assert.deepEqual(resultsIn(upstream.arrived[1] as Arrived), [HITS]);
      assert.deepEqual(
        setup.engine.arrived.map(({ body }) => [body['query'], body['numResults']]),
        [['news', 5]],
      );
      const record = await recordOf(setup.gateway, reported.id);
      assert.equal(record.costNanoUsd, 2 * TURN_NANO_USD + 7_000_000, 'two turns and a search');
      assert.equal(reported.usage['cost'], (2 * TURN_NANO_USD + 7_000_000) / 1e9);
      const use = objectOf(reported.usage['server_tool_use']);
      assert.equal(use['web_search_requests'], 1);
    });

  test('shows a chat caller its sources, and a messages caller the pages', async (t) => {
    const setup = await start(t, once(search('news')));
    const chat = await ask(setup, CHAT, { tools: EXA });
    const annotations = chat.message['annotations'] as readonly { readonly url_citation: { readonly url: string } }[];
    assert.deepEqual(
      annotations.map(({ url_citation: { url } }) => url),
      HITS.map(({ url }) => url),
    );
    const messages = await ask(setup, { ...MESSAGES, model: 'acme/chat' }, { tools: EXA });
    const content = messages.message['content'] as readonly { readonly type: string; readonly content?: unknown }[];
    const result = content.find(({ type }) => type === 'web_search_tool_result');
    assert.deepEqual(
      result?.content,
      HITS.map(({ url, title, content: text, page_age = null }) => ({
        type: 'web_search_result',
        url,
        title,
        encrypted_content: text,
        page_age,
      })),
    );
  });

  test('uses the tool by each of its names', async (t) => {
    for (const [asking, tool, wanted] of [
      [
        CHAT,
        { type: 'web_search', max_results: 2, allowed_domains: ['a.example'] },
        { numResults: 2, includeDomains: ['a.example'] },
      ],
      [
        CHAT,
        { type: 'web_search_preview', parameters: { search_context_size: 'low' } },
        { contents: { text: { maxCharacters: 5_000 } } },
      ],
      [
        { ...MESSAGES, model: 'acme/chat' },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 1, blocked_domains: ['b.example'] },
        { excludeDomains: ['b.example'] },
      ],
      [{ ...MESSAGES, model: 'acme/chat' }, { type: 'web_search_20260209', name: 'web_search' }, { numResults: 5 }],
    ] as const) {
      const setup = await start(t, once(search('news')));
      const reported = await ask(setup, asking, { tools: [tool] });
      assert.equal(reported.status, 200);
      const body = setup.engine.arrived[0]?.body;
      assert.deepEqual({ ...body, ...wanted }, body, JSON.stringify(tool));
    }
  });

  // @spec web-17
  test("keeps to the caller's limits: searches, results of one, results of all", async (t) => {
    const setup = await start(t, once(search('one', 'two', 'three')));
    await ask(setup, CHAT, {
      tools: [{ type: 'service:web_search', parameters: { max_uses: 2, max_total_results: 3, max_results: 2 } }],
    });
    const [first, second, third] = resultsIn(setup.chat.arrived[1] as Arrived);
    assert.deepEqual([first, second], [HITS, HITS.slice(0, 1)]);
    assert.deepEqual(third, { status: 'error', error: 'At most 2 searches are allowed.' });
    assert.deepEqual(new Set(setup.engine.arrived.map(({ body }) => body['numResults'])), new Set([1, 2]));
  });

  // @spec web-19
  test('reads the reason when a search fails, which ends nothing and costs nothing', async (t) => {
    const setup = await start(t, once(search('news')), { engine: json(429, { error: 'a secret' }) });
    const reported = await ask(setup, CHAT, { tools: EXA });
    assert.equal(reported.text, 'Done.');
    assert.deepEqual(resultsIn(setup.chat.arrived[1] as Arrived), [
      { status: 'error', error: 'The search engine exa gets too many requests.' },
    ]);
    assert.equal(reported.usage['cost'], (2 * TURN_NANO_USD) / 1e9);
    const unset = await ask(setup, CHAT, {
      tools: [{ type: 'service:web_search', parameters: { engine: 'parallel' } }],
    });
    assert.equal(unset.status, 200);
  });

  // @spec web-17
  test('rejects invalid parameters at their place', async (t) => {
    const setup = await start(t, once(search('news')));
    for (const [parameters, path] of [
      [{ max_results: 26 }, 'tools[0].parameters.max_results'],
      [{ engine: 'gopher' }, 'tools[0].parameters.engine'],
      [{ max_characters: 0 }, 'tools[0].parameters.max_characters'],
    ] as const) {
      const answer = await setup.gateway.post('/chat/completions', {
        model: 'acme/chat',
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [{ type: 'service:web_search', parameters }],
      });
      assert.equal(answer.status, 400);
      const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
      assert.ok(error.message.startsWith(path), error.message);
    }
  });

  // @spec web-2
  test('searches at its vendor by default, and in the gateway with a named engine', async (t) => {
    const setup = await start(t, () => ({ text: 'Done.' }));
    const parameters = {
      engine: 'auto',
      max_uses: 2,
      excluded_domains: ['b.example'],
      user_location: { city: 'Berlin' },
    };
    await ask(setup, MESSAGES, { tools: [{ type: 'service:web_search', parameters }] });
    await ask(setup, MESSAGES, { tools: EXA });
    const [native, here] = setup.messages.arrived.map(
      ({ body }) => body['tools'] as readonly Record<string, unknown>[],
    );
    assert.deepEqual(native, [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 2,
        blocked_domains: ['b.example'],
        user_location: { type: 'approximate', city: 'Berlin' },
      },
    ]);
    assert.equal(here?.[0]?.['name'], 'service_web_search');
  });
});

/** A site with a page and a file. */
const SITE: Script = (arrived, response) => {
  if (arrived.path === '/file.pdf')
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(makePdf([{ lines: ['in the file'] }], 'A file'));
  else
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<title>A page</title><body><p>what it says</p></body>');
};

async function startSite(t: TestContext): Promise<string> {
  // A page is requested without a body, which the scripted upstream cannot read as JSON.
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    void SITE({ path: request.url ?? '', headers: {}, body: {}, text: '' }, response, request);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

suite('a model that reads pages', () => {
  const OWN = 'web_fetch: { private_addresses: true }';
  const tools = [{ type: 'service:web_fetch', parameters: { engine: 'service' } }];

  for (const asking of ASKINGS)
    // @spec web-22
    test(`reads them: ${nameOf(asking)}`, async (t) => {
      const site = await startSite(t);
      const setup = await start(t, once(fetchPage(`${site}/page`, `${site}/file.pdf`)), { yaml: OWN });
      const reported = await ask(setup, asking, { tools });
      assert.equal(reported.text, 'Done.');
      const upstream = asking.model === 'acme/chat' ? setup.chat : setup.messages;
      const results = resultsIn(upstream.arrived[1] as Arrived).map((result) => {
        const { retrieved_at: at, ...rest } = result as Record<string, unknown>;
        assert.match(String(at), /^\d{4}-\d\d-\d\dT/);
        return rest;
      });
      assert.deepEqual(results, [
        { url: `${site}/page`, title: 'A page', content: 'what it says', status: 'completed' },
        { url: `${site}/file.pdf`, title: 'A file', content: '## Page 1\n\nin the file', status: 'completed' },
      ]);
      assert.equal(reported.usage['cost'], (2 * TURN_NANO_USD) / 1e9, 'the gateway itself takes nothing for it');
    });

  // @spec web-24
  test('reads no private address unless the operator allows it', async (t) => {
    const site = await startSite(t);
    const metadata = 'http://169.254.169.254/latest/meta-data/';
    const closed = await start(t, once(fetchPage(`${site}/page`, metadata)));
    await ask(closed, CHAT, { tools });
    const refused = (url: string) => ({ url, status: 'failed', error: 'The address is not on the public Internet.' });
    assert.deepEqual(resultsIn(closed.chat.arrived[1] as Arrived), [refused(`${site}/page`), refused(metadata)]);
    const open = await start(t, once(fetchPage(metadata)), { yaml: OWN });
    await ask(open, CHAT, { tools });
    assert.deepEqual(resultsIn(open.chat.arrived[1] as Arrived), [refused(metadata)], 'this one in no case');
  });

  // @spec web-20
  test("keeps to the caller's limits", async (t) => {
    const site = await startSite(t);
    const setup = await start(t, once(fetchPage(`${site}/page`, 'https://b.example/', `${site}/page`)), { yaml: OWN });
    const parameters = { engine: 'service', max_uses: 2, allowed_domains: ['127.0.0.1'], max_content_tokens: 1 };
    await ask(setup, CHAT, { tools: [{ type: 'service:web_fetch', parameters }] });
    const [page, elsewhere, third] = resultsIn(setup.chat.arrived[1] as Arrived) as Record<string, unknown>[];
    assert.deepEqual([page?.['content'], page?.['truncated']], ['what', true]);
    assert.equal(elsewhere?.['error'], 'The address is not among those that may be visited.');
    assert.equal(third?.['error'], 'At most 2 pages may be read.');
  });

  // @spec web-21
  test('reads through a configured vendor by default, for its fee', async (t) => {
    const engine = json(200, {
      results: [{ url: 'https://a.example/', title: 'A', text: 'what it says' }],
      statuses: [],
    });
    const setup = await start(t, once(fetchPage('https://a.example/')), { engine });
    const reported = await ask(setup, CHAT, { tools: [{ type: 'service:web_fetch' }] });
    assert.deepEqual(
      setup.engine.arrived.map(({ path }) => path),
      ['/contents'],
    );
    assert.equal(reported.usage['cost'], (2 * TURN_NANO_USD + 1_000_000) / 1e9);
  });

  test('reads at its own vendor on request, when one domain list is enough', async (t) => {
    const setup = await start(t, () => ({ text: 'Done.' }));
    const both = { allowed_domains: ['a.example'], blocked_domains: ['b.example'] };
    for (const parameters of [
      { engine: 'native', max_uses: 2, max_content_tokens: 900, allowed_domains: ['a.example'] },
      { engine: 'native', ...both },
      { engine: 'auto' },
    ])
      await ask(setup, MESSAGES, { tools: [{ type: 'service:web_fetch', parameters }] });
    const [native, ...here] = setup.messages.arrived.map(
      ({ body }) => (body['tools'] as readonly { readonly name: string }[])[0],
    );
    assert.deepEqual(native, {
      type: 'web_fetch_20250910',
      name: 'web_fetch',
      max_uses: 2,
      max_content_tokens: 900,
      allowed_domains: ['a.example'],
    });
    assert.deepEqual(
      here.map((tool) => tool?.name),
      ['service_web_fetch', 'service_web_fetch'],
    );
  });

  // @spec web-20
  test('reads with the settings of the plugin web-fetch', async (t) => {
    const site = await startSite(t);
    const setup = await start(t, once(fetchPage(`${site}/page`)), { yaml: OWN });
    await ask(setup, CHAT, { plugins: [{ id: 'web-fetch', blocked_domains: ['127.0.0.1'] }] });
    const [tool] = (setup.chat.arrived[0] as Arrived).body['tools'] as readonly { function: { name: string } }[];
    assert.equal(tool?.function.name, 'service_web_fetch');
    const [result] = resultsIn(setup.chat.arrived[1] as Arrived) as Record<string, unknown>[];
    assert.equal(result?.['status'], 'failed', 'Exa is called, and the plugin blocks the domain');
  });
});
