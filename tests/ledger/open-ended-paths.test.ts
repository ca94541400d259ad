import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { GatewayOptions } from '../support/gateway.ts';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { readChatStream } from '../support/http/read-stream.ts';
import { chatAnswer, chatChunk, json, sse, startUpstream, type Script } from '../support/upstream.ts';

const TOKEN_USD = 0.000_01;
const SLICE_USD = 4_096 * TOKEN_USD;
const REQUEST = { model: 'acme/one', messages: [{ role: 'user', content: 'hi' }] };
/** 4,000 bytes: 1,000 tokens by an estimate. */
const PAGE = 'x'.repeat(4_000);

async function open(t: TestContext, script: Script, more: Pick<GatewayOptions, 'serverTools'> = {}) {
  const upstream = await startUpstream(script);
  t.after(() => upstream.close());
  const url = upstream.baseUrl;
  const gateway = await startGateway({
    ...more,
    yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${url}, api_key: a }
  beta: { adapter: openai-compatible, base_url: ${url}, api_key: b }
  gamma: { adapter: messages-compatible, base_url: ${url}, api_key: c }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
  acme/small:
    endpoints: [{ provider: alpha, model: small, max_completion_tokens: 2000, price: { prompt: 0, completion: 10 } }]
  acme/two:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 0, completion: 1 } }
      - { provider: beta, model: two, price: { prompt: 0, completion: 10 } }
  acme/thinker:
    endpoints: [{ provider: gamma, model: thinker, price: { prompt: 0, completion: 10 } }]
`,
  });
  t.after(() => gateway.close());
  const manage = async (method: string, path: string, body?: object) => {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { key: string; data: Record<string, unknown> };
  };
  const limited = async (limit: number, changes: object = {}) => {
    const { key, data } = await manage('POST', '/keys', { name: 'limited', limit, ...changes });
    return {
      ask: (body: object, headers: Record<string, string> = {}) =>
        gateway.post('/chat/completions', { ...REQUEST, ...body }, { authorization: `Bearer ${key}`, ...headers }),
      used: async () => Number((await manage('GET', `/keys/${String(data['hash'])}`)).data['usage']),
    };
  };
  const recordOf = async (response: Response) => {
    const id = response.headers.get('x-generation-id') ?? '';
    const { data } = (await (
      await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      })
    ).json()) as { data: { warnings: { code: string }[]; usage_source: string } };
    return { codes: data.warnings.map(({ code }) => code), source: data.usage_source };
  };
  return { upstream, gateway, manage, limited, recordOf };
}

/** So many pages of a stream, each with a pause before it that lets an extension be made; then its end, if any. */
const pages =
  (count: number, end = ''): Script =>
  async (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let page = 0; page < count && !response.destroyed; page++) {
      response.write(sse([chatChunk({ role: 'assistant', content: PAGE })]));
      await new Promise((resolve) => {
        setTimeout(resolve, 15);
      });
    }
    if (end !== '') response.end(end);
    else if (!response.destroyed) response.destroy();
  };

const usageOf = (completion_tokens: number) => ({ prompt_tokens: 5, completion_tokens });
const endOf = (tokens: number): string => sse([chatChunk({}, 'stop', { usage: usageOf(tokens) }), '[DONE]']);

suite('a stream without max_tokens', () => {
  // @spec money-34
  test('continues over many slices while the limit allows it', async (t) => {
    const { limited, recordOf } = await open(t, pages(20, endOf(20_000)));
    const { ask, used } = await limited(8 * SLICE_USD);
    const response = await ask({ stream: true });
    const { finish, text } = readChatStream(await response.text());
    assert.deepEqual([finish, text.length], ['stop', 20 * PAGE.length]);
    assert.equal(await used(), 0.2);
    assert.deepEqual(await recordOf(response), { codes: [], source: 'upstream' });
  });

  // @spec money-35
  test('is charged by a marked estimate within its limit when it is cut, and says so', async (t) => {
    const { limited, recordOf, upstream } = await open(t, pages(200));
    const { ask, used } = await limited(SLICE_USD);
    const response = await ask({ stream: true });
    const { finish, error, text } = readChatStream(await response.text());
    assert.deepEqual([finish, error], ['length', undefined]);
    assert.deepEqual(await recordOf(response), { codes: ['budget_reached'], source: 'estimated' });
    assert.equal(await used(), Math.round((text.length / 4) * TOKEN_USD * 1e9) / 1e9);
    assert.ok((await used()) <= SLICE_USD);
    assert.equal(upstream.arrived.length, 1);
  });

  // @spec cache-5
  test('is never cached when it was cut', async (t) => {
    const { limited, upstream } = await open(t, pages(200));
    const { ask } = await limited(2 * SLICE_USD);
    for (let round = 0; round < 2; round++) await (await ask({ stream: true }, { 'x-service-cache': 'true' })).text();
    assert.equal(upstream.arrived.length, 2);
  });

  test('continues at a dearer endpoint within the rest of the budget when it breaks off', async (t) => {
    const stated = 'The bridge was built in the year 1873 by a guild of masons of the old town,';
    const { limited, upstream } = await open(t, (arrived, response, request) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const begun = sse([chatChunk({ role: 'assistant', content: stated })]);
      if (arrived.body['model'] === 'one') response.write(begun, () => setTimeout(() => request.socket.destroy(), 20));
      else {
        response.write(begun);
        void pages(200)(arrived, Object.assign(response, { writeHead: () => response }), request);
      }
    });
    const { ask, used } = await limited(SLICE_USD + 100 * TOKEN_USD);
    const response = await ask({ model: 'acme/two', stream: true }, { 'x-service-rescue': 'enabled' });
    const { finish, error, text } = readChatStream(await response.text());
    assert.deepEqual([finish, error], ['length', undefined]);
    assert.ok(text.startsWith(stated) && text.length > 2_000, text.slice(0, 200));
    assert.equal(upstream.arrived.length, 2);
    const spent = await used();
    assert.ok(spent > SLICE_USD / 3 && spent <= SLICE_USD + 100 * TOKEN_USD, `${spent}`);
  });

  test('is not cut before its terminal frame when its final counts exceed the rest', async (t) => {
    const { limited, recordOf } = await open(t, async (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([chatChunk({ role: 'assistant', content: 'thought of for long' })]));
      response.write(sse([chatChunk({}, 'stop', { usage: usageOf(6_000) })]));
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
      response.end(sse(['[DONE]']));
    });
    const { ask } = await limited(SLICE_USD);
    const response = await ask({ stream: true });
    const { finish, error } = readChatStream(await response.text());
    assert.deepEqual([finish, error], ['stop', undefined]);
    assert.deepEqual(await recordOf(response), { codes: [], source: 'upstream' });
  });
});

suite('a response without max_tokens that is not streamed', () => {
  const answered: Script = (arrived, response, request) =>
    void json(200, chatAnswer('ok', { usage: usageOf(Number(arrived.body['max_tokens'] ?? 100)) }))(
      arrived,
      response,
      request,
    );

  // @spec money-37
  test('gets a quarter of the rest, or a slice if that is more, and no maximum when all fits', async (t) => {
    const { limited, upstream } = await open(t, answered);
    const sent = async (limit: number, body: object = {}) => {
      upstream.arrived.length = 0;
      const { ask } = await limited(limit);
      assert.equal((await ask(body)).status, 200);
      return upstream.arrived[0]?.body['max_tokens'];
    };
    assert.equal(await sent(80_000 * TOKEN_USD), 20_000);
    assert.equal(await sent(8_000 * TOKEN_USD), 4_096);
    assert.equal(await sent(3_000 * TOKEN_USD), 3_000);
    assert.equal(await sent(10_000 * TOKEN_USD, { model: 'acme/small' }), undefined, 'its own maximum is reserved');
    assert.equal(await sent(2_000_000 * TOKEN_USD), undefined);
  });

  test('records that a maximum of the gateway ended it', async (t) => {
    const { limited, recordOf } = await open(
      t,
      json(
        200,
        chatAnswer('ok', {
          usage: usageOf(3_000),
          choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'length' }],
        }),
      ),
    );
    const { ask } = await limited(3_000 * TOKEN_USD);
    assert.deepEqual(await recordOf(await ask({})), { codes: ['budget_reached'], source: 'upstream' });
    const bounded = await (await limited(3_000 * TOKEN_USD)).ask({ max_completion_tokens: 3_000 });
    assert.deepEqual((await recordOf(bounded)).codes, []);
  });

  // @spec money-37
  test('gets room for its reasoning and 1,024 tokens more, or is refused', async (t) => {
    const { limited, upstream } = await open(
      t,
      json(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'ok' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 5 },
      }),
    );
    const thinking = { model: 'acme/thinker', reasoning: { max_tokens: 6_000 } };
    const poor = await (await limited(7_023 * TOKEN_USD)).ask(thinking);
    assert.equal(poor.status, 402);
    assert.match(await poor.text(), /fees and 7024 tokens of a response/);
    assert.equal((await (await limited(7_024 * TOKEN_USD)).ask(thinking)).status, 200);
    assert.deepEqual(
      upstream.arrived.map(({ body }) => [body['max_tokens'], body['thinking']]),
      [[7_024, { type: 'enabled', budget_tokens: 6_000 }]],
    );
  });
});

suite('limits that count BYOK calls', () => {
  for (const include_byok_in_limit of [true, false])
    test(`${include_byok_in_limit ? 'cut' : 'do not cut'} a stream`, async (t) => {
      const { limited, manage } = await open(t, pages(10, endOf(10_000)));
      await manage('POST', '/byok', { provider: 'alpha', key: 'own-credential', name: 'own' });
      const { ask } = await limited(SLICE_USD, { include_byok_in_limit });
      const { finish } = readChatStream(await (await ask({ stream: true })).text());
      assert.equal(finish, include_byok_in_limit ? 'length' : 'stop');
    });
});
