import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { recordOf } from '../support/tool-turns.ts';
import { json, type Arrived } from '../support/upstream.ts';
import {
  askForChat,
  grant,
  spent,
  stagesOf,
  startWeb,
  type Annotation,
  type ChatBody,
  type MessagesBody,
  type WebSetup,
} from '../support/web.ts';

const STATED = 'As [a.example](https://a.example/one) tells, and https://b.example/two says so too.';

const QUESTION = [
  { role: 'user', content: 'first' },
  { role: 'assistant', content: 'answer' },
  { role: 'user', content: 'what is new?' },
];

function askChat(
  setup: Pick<WebSetup, 'gateway'>,
  body: object = {},
  model = 'acme/chat',
): Promise<{ readonly status: number; readonly body: ChatBody }> {
  return askForChat(setup, { model, messages: QUESTION, plugins: [{ id: 'web' }], ...body });
}

/** The message of a whole answer. */
function messageOf({ choices }: ChatBody) {
  const message = choices[0]?.message;
  assert.ok(message !== undefined);
  return { content: message.content, annotations: message.annotations ?? [] };
}

/** The places in the text, as the annotations name them. */
function placesIn(text: string, annotations: readonly Annotation[]): readonly (readonly unknown[])[] {
  return annotations.map(({ type, url_citation: cited }) => [
    type,
    cited?.url,
    cited?.title,
    text.slice(cited?.start_index, cited?.end_index),
    cited?.content,
  ]);
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly annotations?: readonly Annotation[] } }[];
}

const PLACES = [
  ['url_citation', 'https://a.example/one', 'One', '[a.example](https://a.example/one)', 'what one says'],
  ['url_citation', 'https://b.example/two/', 'Two', 'https://b.example/two', 'what two says'],
];

const systemTexts = ({ body }: Arrived): string[] =>
  (body['messages'] as { role: string; content: unknown }[])
    .filter(({ role }) => role === 'system')
    .map(({ content }) => String(content));

suite('the web plugin', () => {
  // @spec web-10, web-11
  test("searches for the user's last text, and inserts the results before it", async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status } = await askChat(setup, {
      plugins: [{ id: 'web', max_results: 2, exclude_domains: ['c.example'] }],
    });
    assert.equal(status, 200);
    assert.deepEqual(
      setup.engine.arrived.map(({ body }) => body),
      [
        {
          query: 'what is new?',
          type: 'auto',
          numResults: 2,
          excludeDomains: ['c.example'],
          contents: { highlights: true },
        },
      ],
    );
    const sent = setup.chat.arrived[0]?.body['messages'] as { role: string; content: string }[];
    assert.deepEqual(
      sent.map(({ role }) => role),
      ['user', 'assistant', 'system', 'user'],
    );
    const results = sent[2]?.content ?? '';
    assert.match(results, new RegExp(`made on ${new Date().toISOString().slice(0, 10)}`));
    assert.match(results, /Result 1: One\nURL: https:\/\/a\.example\/one\nPublished: 2026-11-01\n\nwhat one says/);
    assert.match(results, /Result 2: Two\nURL: https:\/\/b\.example\/two\/\n\nwhat two says/);
    assert.equal(sent[3]?.content, 'what is new?');
    assert.equal(setup.chat.arrived[0]?.body['plugins'], undefined);
  });

  // @spec web-11
  test("replaces its own introduction by the caller's", async (t) => {
    const setup = await startWeb(t, { text: STATED });
    await askChat(setup, { plugins: [{ id: 'web', search_prompt: 'Found on {date}:' }] });
    const [text = ''] = systemTexts(setup.chat.arrived[0] as Arrived);
    assert.match(text, /^Found on \d{4}-\d\d-\d\d:\n\nResult 1: One/);
  });

  // @spec chat-response-9, web-13
  test('cites links at their places in a response', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { body } = await askChat(setup);
    const { content, annotations } = messageOf(body);
    assert.equal(content, STATED);
    assert.deepEqual(placesIn(content, annotations), PLACES);
  });

  // @spec stream-18
  test('cites a stream likewise', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const request = { model: 'acme/chat', messages: QUESTION, plugins: [{ id: 'web' }], stream: true };
    const raw = await (await setup.gateway.post('/chat/completions', request)).text();
    const { text, chunks } = readChatStream(raw);
    assert.equal(text, STATED);
    const annotations = (chunks as unknown as readonly Chunk[]).flatMap(({ choices }) =>
      choices.flatMap(({ delta }) => delta.annotations ?? []),
    );
    assert.deepEqual(placesIn(text, annotations), PLACES);
  });

  test('cites in the messages format, streamed or not', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const request = { model: 'acme/messages', max_tokens: 100, messages: QUESTION, plugins: [{ id: 'web' }] };
    const whole = (await (await setup.gateway.post('/messages', request)).json()) as MessagesBody;
    const expected = [
      {
        type: 'web_search_result_location',
        url: 'https://a.example/one',
        title: 'One',
        cited_text: 'what one says',
        encrypted_index: '',
      },
      {
        type: 'web_search_result_location',
        url: 'https://b.example/two/',
        title: 'Two',
        cited_text: 'what two says',
        encrypted_index: '',
      },
    ];
    assert.deepEqual(
      whole.content.map(({ type, text, citations }) => [type, text, citations]),
      [['text', STATED, expected]],
    );
    const raw = await (await setup.gateway.post('/messages', { ...request, stream: true })).text();
    const { events } = readMessagesStream(raw);
    const deltas = events.map(
      ({ delta }) => delta as { readonly type?: string; readonly citation?: object } | undefined,
    );
    assert.deepEqual(
      deltas.filter((delta) => delta?.type === 'citations_delta').map((delta) => delta?.citation),
      expected,
    );
  });

  test('inserts results beside the question in the messages format, after tool results', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' };
    for (const [messages, before] of [
      [[{ role: 'user', content: 'what is new?' }], []],
      [
        [
          { role: 'user', content: 'first' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
          { role: 'user', content: [result, { type: 'text', text: 'what is new?' }] },
        ],
        [result],
      ],
    ] as const) {
      const tools = [{ name: 'look', input_schema: { type: 'object' } }];
      const request = { model: 'acme/messages', max_tokens: 100, messages, tools, plugins: [{ id: 'web' }] };
      assert.equal((await setup.gateway.post('/messages', request)).status, 200);
      const sent = setup.messages.arrived.at(-1)?.body['messages'] as { role: string; content: { text: string }[] }[];
      assert.deepEqual(
        sent.map(({ role }) => role),
        messages.map(({ role }) => role),
        'no message is between those of the caller',
      );
      const content = sent.at(-1)?.content ?? [];
      assert.deepEqual(content.slice(0, before.length), before);
      assert.match(content.at(-2)?.text ?? '', /Result 1: One\nURL: https:\/\/a\.example\/one/);
      assert.deepEqual(content.at(-1), { type: 'text', text: 'what is new?' });
    }
  });

  // @spec web-13
  test('cites results without links as sources of the whole response', async (t) => {
    const setup = await startWeb(t, { text: 'Nothing is new.' });
    const { body } = await askChat(setup);
    const { content, annotations } = messageOf(body);
    assert.deepEqual(
      placesIn(content, annotations).map((place) => place[3]),
      ['Nothing is new.', 'Nothing is new.'],
    );
  });

  test('reports its search and the cost', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { body } = await askChat(setup);
    assert.deepEqual(body.service_metadata.pipeline, [
      {
        type: 'plugin',
        name: 'web-search',
        summary: 'Found 2 pages with exa',
        data: { engine: 'exa', results: 2, query: 'what is new?' },
        cost_usd: 0.007,
      },
    ]);
    // 10 prompt tokens at 1 USD and 5 at 2 USD a million, and the search.
    assert.equal(body.usage.cost, 0.000_02 + 0.007);
    const { webCostNanoUsd, fileCostNanoUsd } = await recordOf(setup.gateway, body.id);
    assert.deepEqual([webCostNanoUsd, fileCostNanoUsd], [7_000_000, null]);
  });

  // @spec web-10
  test('does nothing without a question, or when it is turned off', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    for (const body of [
      { plugins: [{ id: 'web', enabled: false }] },
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
        ],
      },
    ]) {
      const answer = await askChat(setup, body);
      assert.equal(answer.status, 200);
      assert.deepEqual(messageOf(answer.body).annotations, []);
    }
    assert.equal(setup.engine.arrived.length, 0);
  });

  // @spec model-15
  test('is enabled by the suffix :online', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status, body } = await askChat(setup, { plugins: [] }, 'acme/chat:online');
    assert.equal(status, 200);
    assert.equal(body.model, 'acme/chat');
    assert.equal(setup.engine.arrived.length, 1);
    const off = await askChat(setup, { plugins: [{ id: 'web', enabled: false }] }, 'acme/chat:online');
    assert.equal(off.status, 200);
    assert.equal(setup.engine.arrived.length, 1, 'what the request says of the plugin counts more');
  });
});

suite('a request that is refused before the search', () => {
  test('names a model that does not exist, and costs nothing', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status } = await askChat(setup, {}, 'acme/none');
    assert.equal(status, 404);
    assert.equal(setup.engine.arrived.length, 0);
  });

  test('is 400 at the plugin for an engine that is not configured', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status, body } = await askChat(setup, {
      plugins: [{ id: 'response-healing' }, { id: 'web', engine: 'parallel' }],
    });
    assert.equal(status, 400);
    assert.equal(body.error.message, 'plugins[1]: the search engine "parallel" is not set up on this gateway');
    const none = await startGateway();
    t.after(() => none.close());
    const unset = await askChat({ gateway: none }, {}, 'sandbox/echo');
    assert.equal(unset.status, 400);
    assert.equal(unset.body.error.message, 'plugins[0]: no search engine is set up on this gateway');
  });

  // @spec web-14
  test('fails free of charge when the engine fails', async (t) => {
    for (const [engineStatus, expected] of [
      [500, 502],
      [429, 429],
      [401, 502],
    ] as const) {
      const setup = await startWeb(t, {
        text: STATED,
        engine: json(engineStatus, { error: 'a secret of the account' }),
      });
      const { status, body } = await askChat(setup);
      assert.equal(status, expected);
      assert.match(body.error.message, /The web search failed\. The search engine exa /);
      assert.doesNotMatch(JSON.stringify(body), /secret/);
      assert.equal(setup.chat.arrived.length, 0);
    }
  });

  // @spec web-6
  test('has an invalid domain', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status, body } = await askChat(setup, { plugins: [{ id: 'web', include_domains: ['no site'] }] });
    assert.deepEqual([status, body.error.message], [400, 'plugins[0].include_domains[0]: names no site']);
  });
});

suite('the cost of a search', () => {
  const yaml = 'credits: { enforce: true }';

  // @spec web-15
  test('is reserved first: without the money there is no search', async (t) => {
    const setup = await startWeb(t, { text: STATED, yaml });
    await grant(setup, 0.006);
    const { status } = await askChat(setup, { max_tokens: 10 });
    assert.equal(status, 402);
    assert.equal(setup.engine.arrived.length, 0);
  });

  test('is not spent beyond a rate limit', async (t) => {
    const setup = await startWeb(t, { text: STATED, yaml: 'rate_limits: { key: { requests_per_minute: 2 } }' });
    const statuses: number[] = [];
    for (let requestedCount = 0; requestedCount < 3; requestedCount++)
      statuses.push((await askChat(setup, { max_tokens: 10 })).status);
    assert.deepEqual(statuses, [200, 200, 429]);
    assert.equal(setup.engine.arrived.length, 2);
  });

  test('is charged once with the response', async (t) => {
    const setup = await startWeb(t, { text: STATED, yaml });
    await grant(setup, 1);
    const { body } = await askChat(setup, { max_tokens: 10 });
    const record = await setup.gateway.app.generations.find(body.id);
    assert.equal(record?.costNanoUsd, 7_020_000);
    assert.equal(await spent(setup), 0.007_02);
  });

  // @spec web-15
  test('is not owed when every upstream fails, and its reservation is released', async (t) => {
    const setup = await startWeb(t, { text: STATED, yaml });
    await grant(setup, 0.01);
    setup.chat.script = json(500, { error: { message: 'down' } });
    for (let requestedCount = 0; requestedCount < 2; requestedCount++)
      assert.equal((await askChat(setup, { max_tokens: 10 })).status, 502);
    assert.equal(setup.engine.arrived.length, 2);
    assert.equal(await spent(setup), 0);
  });

  test('is not owed while every upstream is in cooldown', async (t) => {
    const setup = await startWeb(t, { text: STATED, yaml });
    await grant(setup, 0.01);
    setup.chat.script = json(429, { error: { message: 'slow down' } }, { 'retry-after': '600' });
    for (const expected of [429, 503]) assert.equal((await askChat(setup, { max_tokens: 10 })).status, expected);
    assert.equal(setup.engine.arrived.length, 2);
    assert.equal(await spent(setup), 0);
  });

  test('is owed when the upstream rejects the request, and the reservation is released', async (t) => {
    const setup = await startWeb(t, { text: STATED, yaml });
    await grant(setup, 0.02);
    setup.chat.script = json(400, { error: { message: 'no' } });
    for (const expected of [400, 400, 402]) assert.equal((await askChat(setup, { max_tokens: 10 })).status, expected);
    assert.equal(setup.engine.arrived.length, 2);
    assert.equal(await spent(setup), 0.014);
  });
});

suite('a search of the endpoint itself', () => {
  test("is the vendor’s tool in the messages format, with the plugin's settings", async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const plugins = [
      {
        id: 'web',
        max_uses: 3,
        include_domains: ['a.example'],
        exclude_domains: ['b.example'],
        user_location: { type: 'approximate', city: 'Berlin', country: null },
      },
    ];
    const { status, body } = await askChat(setup, { plugins }, 'acme/vendor');
    assert.equal(status, 200);
    assert.deepEqual(setup.messages.arrived[0]?.body['tools'], [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 3,
        allowed_domains: ['a.example'],
        user_location: { type: 'approximate', city: 'Berlin' },
      },
    ]);
    assert.equal(setup.engine.arrived.length, 0);
    assert.deepEqual(
      stagesOf(body, 'web-search').map(({ data }) => data),
      [{ engine: 'native' }],
    );
  });

  test('is requested by web_search_options elsewhere', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status } = await askChat(
      setup,
      { plugins: [{ id: 'web', user_location: { city: 'Berlin' } }] },
      'acme/able',
    );
    assert.equal(status, 200);
    assert.deepEqual(setup.chat.arrived[0]?.body['web_search_options'], {
      user_location: { type: 'approximate', approximate: { city: 'Berlin' } },
    });
    assert.equal(setup.engine.arrived.length, 0);
  });

  // @spec web-3
  test('is refused when the endpoint has none', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    const { status, body } = await askChat(setup, { plugins: [{ id: 'web', engine: 'native' }] });
    assert.equal(status, 400);
    assert.match(body.error.message, /the engine "native" needs an endpoint that searches by itself/);
  });

  test('gives way to a named engine', async (t) => {
    const setup = await startWeb(t, { text: STATED });
    await askChat(setup, { plugins: [{ id: 'web', engine: 'exa' }] }, 'acme/able');
    assert.equal(setup.engine.arrived.length, 1);
    assert.equal(setup.chat.arrived[0]?.body['web_search_options'], undefined);
  });
});
