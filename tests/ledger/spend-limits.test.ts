import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, chatChunk, json, sse, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** The cost of a response of the requested length: 100 tokens at 10 USD a million. The prompt is free. */
const ANSWER_USD = 0.001;
const ANSWER_TOKENS = 100;
const REQUEST = { model: 'acme/one', max_tokens: ANSWER_TOKENS, messages: [{ role: 'user', content: 'hi' }] };
const USAGE = { prompt_tokens: 10, completion_tokens: ANSWER_TOKENS, total_tokens: 10 + ANSWER_TOKENS };
const RESCUE = { 'x-service-rescue': 'enabled' };
/** Begins an answer, long enough to be found again in another. */
const STATED = 'The bridge was built in the year 1873 by a guild of masons of the old town,';

suite('the spending limit of a key', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
  beta: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: b }
  gamma: { adapter: messages-compatible, base_url: ${upstream.baseUrl}, api_key: c }
  delta: { adapter: fireworks, base_url: ${upstream.baseUrl}, api_key: d }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }]
  acme/thinker:
    endpoints: [{ provider: gamma, model: thinker, price: { prompt: 0, completion: 10 } }]
  acme/stopping:
    endpoints: [{ provider: delta, model: one, price: { prompt: 0, completion: 10 } }]
  acme/rescued:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 0, completion: 10 } }
      - { provider: beta, model: one, price: { prompt: 0, completion: 10 } }
  acme/free:
    endpoints: [{ provider: alpha, model: free, price: { prompt: 0, completion: 0 } }]
`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.arrived.length = 0;
    upstream.script = json(200, chatAnswer('ok', { usage: USAGE }));
  });

  async function manage(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    assert.ok(response.ok && typeof answer === 'object' && answer !== null, JSON.stringify(answer));
    return answer as Record<string, unknown>;
  }

  async function createKey(limit: number, more: object = {}) {
    const { key, data } = await manage('POST', '/keys', { name: 'limited', limit, ...more });
    const { hash } = data as { hash: string };
    const headers = { authorization: `Bearer ${String(key)}` };
    return {
      ask: (changes: object = {}, signal?: AbortSignal, moreHeaders: Record<string, string> = {}) =>
        gateway.post('/chat/completions', { ...REQUEST, ...changes }, { ...headers, ...moreHeaders }, signal),
      explain: (changes: object) => gateway.post('/route/explain', { ...REQUEST, ...changes }, headers),
      change: (changes: object) => manage('PATCH', `/keys/${hash}`, changes),
      used: async (): Promise<number> => {
        const { data: record } = await manage('GET', `/keys/${hash}`);
        return (record as { usage: number }).usage;
      },
    };
  }

  // @spec money-29
  test('admits ten of 200 concurrent requests on a key with room for ten, without overspending', async () => {
    const { ask, used } = await createKey(10 * ANSWER_USD);
    const refused = Promise.withResolvers<void>();
    const answer = json(200, chatAnswer('ok', { usage: USAGE }));
    upstream.script = async (arrived, response, request) => {
      await refused.promise;
      await answer(arrived, response, request);
    };
    let refusals = 0;
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { status } = await ask();
        if (status === 402 && ++refusals === 190) refused.resolve();
        return status;
      }),
    );
    assert.equal(upstream.arrived.length, 10);
    assert.equal(statuses.filter((status) => status === 200).length, 10);
    assert.equal(await used(), 10 * ANSWER_USD);
    assert.equal((await ask()).status, 402);
  });

  // @spec money-31
  test('says in a refusal what is left, what the request may cost, and how long a response may be', async () => {
    const { ask } = await createKey(ANSWER_USD / 2);
    const { error } = (await (await ask()).json()) as { error: { code: number; message: string; metadata: object } };
    assert.equal(error.code, 402);
    assert.deepEqual(error.metadata, { error_type: 'payment_required' });
    assert.equal(
      error.message,
      'The API key has 0.0005 USD left of its limit of 0.0005 USD. The request may cost up to 0.001 USD. Set max_tokens to 50 or less.',
    );
    assert.equal((await ask({ max_tokens: 50 })).status, 200);
  });

  test('refuses a maximum beyond every response for its price, with an explanation', async () => {
    const { ask, explain } = await createKey(ANSWER_USD);
    const body = { max_tokens: Number.MAX_SAFE_INTEGER };
    assert.equal((await ask(body)).status, 402);
    const answer = await explain(body);
    const { candidates } = (await answer.json()) as { candidates: { estimated_cost: { max: number } }[] };
    assert.deepEqual([answer.status, candidates[0]?.estimated_cost.max], [200, 1_000]);
  });

  // @spec money-30
  test('reserves reasoning beyond the requested length', async () => {
    const { ask } = await createKey(ANSWER_USD);
    const thinking = { model: 'acme/thinker', max_tokens: 16, reasoning: { max_tokens: 60_000 } };
    assert.equal((await ask(thinking)).status, 402);
    assert.equal(upstream.arrived.length, 0);
  });

  // @spec auth-18
  test('refuses a used-up key before its model is looked up', async () => {
    const { ask, change } = await createKey(10 * ANSWER_USD);
    const unknown = { model: 'acme/none' };
    assert.equal((await ask()).status, 200);
    assert.equal((await ask(unknown)).status, 404);
    await change({ limit: ANSWER_USD });
    assert.equal((await ask(unknown)).status, 402);
    assert.equal((await ask({ temperature: 'hot' })).status, 400, 'the request is validated first');
  });

  test('refuses in the shape of the messages format there', async () => {
    const { ask } = await createKey(0);
    assert.equal((await ask()).status, 402);
    const { key } = await manage('POST', '/keys', { name: 'none', limit: 0 });
    const response = await gateway.post('/messages', REQUEST, { authorization: `Bearer ${String(key)}` });
    const body = (await response.json()) as { type: string; error: { type: string } };
    assert.deepEqual([response.status, body.type, body.error.type], [402, 'error', 'billing_error']);
  });

  test('releases the reservation of a failed request', async () => {
    const { ask, used } = await createKey(ANSWER_USD);
    upstream.script = json(400, { error: { message: 'no' } });
    for (let round = 0; round < 3; round++) assert.equal((await ask()).status, 400);
    assert.equal(await used(), 0);
    upstream.script = json(200, chatAnswer('ok', { usage: USAGE }));
    assert.equal((await ask()).status, 200);
  });

  test('charges a hang-up for what was written, and releases the rest', async () => {
    const { ask, used } = await createKey(2 * ANSWER_USD);
    upstream.script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([chatChunk({ role: 'assistant', content: 'x'.repeat(40) })]));
    };
    const controller = new AbortController();
    // Its provider stops, and stops billing, when the connection closes.
    const response = await ask({ model: 'acme/stopping', stream: true }, controller.signal);
    await response.body?.getReader().read();
    assert.equal((await ask({ max_tokens: 2 * ANSWER_TOKENS })).status, 402);
    controller.abort();
    let spent = 0;
    for (let tries = 0; tries < 100 && spent === 0; tries++) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      spent = await used();
    }
    assert.equal(spent, ANSWER_USD / 10, 'ten tokens, by estimate');
    upstream.script = json(200, chatAnswer('ok', { usage: USAGE }));
    assert.equal((await ask({ max_tokens: 1.5 * ANSWER_TOKENS })).status, 200);
  });

  test('starts a stream without a maximum while something is left, and refuses the next one after that', async () => {
    const { ask, used } = await createKey(ANSWER_USD / 4);
    const open = { max_tokens: undefined, stream: true };
    const begun = await ask(open);
    assert.equal(begun.status, 200);
    await begun.text();
    assert.equal(await used(), ANSWER_USD, 'all that came came in one read');
    assert.equal((await ask(open)).status, 402);
    assert.equal(
      (await ask({ model: 'acme/free' })).status,
      402,
      'a limit that is used up holds for what is free, too',
    );
  });

  test('refuses a response without a maximum when less than 1,024 tokens are left for it', async () => {
    const { ask } = await createKey(ANSWER_USD);
    const response = await ask({ max_tokens: undefined });
    const { error } = (await response.json()) as { error: { message: string } };
    assert.equal(response.status, 402);
    assert.equal(
      error.message,
      'The API key has 0.001 USD left of its limit of 0.001 USD. The request needs at least 0.01024 USD for its prompt, fees and 1024 tokens of a response. Set max_tokens to 100 or less.',
    );
    assert.equal((await ask()).status, 200);
  });

  // @spec fallback-30
  test('reserves a continuation beside the earlier parts, and does not continue when too little is left', async () => {
    const begun = sse([chatChunk({ role: 'assistant', content: STATED })]);
    const rest = sse([chatChunk({ content: ' and the end.' }), chatChunk({}, 'stop', { usage: USAGE }), '[DONE]']);
    const received = async (limit: number): Promise<readonly [boolean, number, number]> => {
      const { ask, used } = await createKey(limit);
      let requestedCount = 0;
      upstream.arrived.length = 0;
      upstream.script = (_arrived, response, request) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (++requestedCount === 2) response.end(begun + rest);
        else response.write(begun, () => setTimeout(() => request.socket.destroy(), 20));
      };
      const response = await ask({ model: 'acme/rescued', stream: true }, undefined, RESCUE);
      const text = await response.text();
      return [text.includes('and the end.'), upstream.arrived.length, await used()];
    };
    const [isRescued, requestedCount, spent] = await received(2 * ANSWER_USD);
    assert.deepEqual([isRescued, requestedCount], [true, 2]);
    assert.ok(spent > ANSWER_USD && spent <= 2 * ANSWER_USD, `${spent}`);
    assert.deepEqual(await received(1.9 * ANSWER_USD), [false, 1, 0]);
  });

  test('leaves no reservation for a response that could not be saved', async () => {
    const { ask } = await createKey(4 * ANSWER_USD);
    upstream.script = (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(sse([chatChunk({ role: 'assistant', content: STATED })]));
    };
    const broken = await ask({ model: 'acme/rescued', stream: true }, undefined, RESCUE);
    await broken.text();
    upstream.script = json(200, chatAnswer('ok', { usage: USAGE }));
    assert.equal((await ask({ max_tokens: 4 * ANSWER_TOKENS })).status, 200);
  });

  // @spec key-10
  test('takes effect at once when it is raised or lowered', async () => {
    const { ask, change } = await createKey(ANSWER_USD);
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 402);
    await change({ limit: 3 * ANSWER_USD });
    assert.equal((await ask()).status, 200);
    await change({ limit: ANSWER_USD });
    assert.equal((await ask({ max_tokens: 1 })).status, 402);
    await change({ limit: null });
    assert.equal((await ask()).status, 200);
  });
});
