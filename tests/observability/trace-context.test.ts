import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { startSpanReceiver } from '../support/http/span-receiver.ts';
import { json, startUpstream, type Arrived, type ScriptedUpstream } from '../support/upstream.ts';

const TRACE_ID = 'a1'.repeat(16);
const PARENT = { traceparent: `00-${TRACE_ID}-${'b2'.repeat(8)}-01`, tracestate: 'vendor=x', baggage: 'secret=1' };
const MESSAGES = [{ role: 'user', content: 'hi' }];
const COMPLETION = {
  id: 'up-1',
  object: 'chat.completion',
  created: 1,
  model: 'one',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const VECTOR = {
  object: 'list',
  model: 'one',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

interface Setup {
  readonly gateway: RunningGateway;
  /** Of the operator's own: it receives traces. */
  readonly own: ScriptedUpstream;
  readonly vendor: ScriptedUpstream;
}

async function open(t: TestContext): Promise<Setup> {
  const own = await startUpstream(json(200, COMPLETION));
  const vendor = await startUpstream(json(200, COMPLETION));
  const gateway = await startGateway({
    yaml: `
observability: { private_destinations: true }
providers:
  own: { adapter: openai-compatible, base_url: "${own.baseUrl}", api_key: k1, trace_context: true }
  vendor: { adapter: openai-compatible, base_url: "${vendor.baseUrl}", api_key: k2 }
models:
  acme/both:
    endpoints:
      - { provider: own, model: one, price: { prompt: 1, completion: 2 } }
      - { provider: vendor, model: one, price: { prompt: 1, completion: 2 } }
  acme/own:
    endpoints: [{ provider: own, model: one, price: { prompt: 1, completion: 2 } }]
`,
  });
  t.after(async () => {
    await gateway.close();
    await own.close();
    await vendor.close();
  });
  return { gateway, own, vendor };
}

async function chat(gateway: RunningGateway, further: object = {}, headers: Record<string, string> = {}) {
  const answer = await gateway.post(
    '/chat/completions',
    { model: 'acme/own', messages: MESSAGES, ...further },
    headers,
  );
  assert.equal(answer.status, 200, await answer.text());
}

const traceHeadersOf = ({ headers }: Arrived) => [headers['traceparent'], headers['tracestate'], headers['baggage']];
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$/;

function sentContext({ headers }: Arrived) {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(String(headers['traceparent'])) ?? [];
  assert.notEqual(traceId, '', String(headers['traceparent']));
  return { traceId, spanId, flags };
}

suite('trace context of calls', () => {
  // @spec destination-23
  test('reaches the providers with the setting, and no other one, as the span of the attempt', async (t) => {
    const { gateway, own, vendor } = await open(t);
    const receiver = await startSpanReceiver(t, gateway);
    own.script = json(503, { error: { message: 'busy' } });
    await chat(gateway, { model: 'acme/both' }, PARENT);
    const [failed] = own.arrived;
    const [served] = vendor.arrived;
    assert.ok(failed !== undefined && served !== undefined);
    assert.deepEqual(traceHeadersOf(served), [undefined, undefined, undefined]);
    const { traceId, spanId, flags } = sentContext(failed);
    assert.deepEqual([traceId, flags, failed.headers['tracestate']], [TRACE_ID, '01', 'vendor=x']);
    assert.equal(failed.headers['baggage'], undefined);
    assert.notEqual(spanId, 'b2'.repeat(8), "the caller's own span is not the parent");
    const tree = await receiver.next(4);
    const attempt = tree.find((span) => span.spanId === spanId);
    const generation = tree.find((span) => span.spanId === attempt?.parentSpanId);
    assert.deepEqual([attempt?.name, generation?.name], ['attempt 1 own', 'chat acme/both']);
  });

  // @spec destination-23
  test('names a span that destinations receive, although there is one attempt', async (t) => {
    const { gateway, own } = await open(t);
    const receiver = await startSpanReceiver(t, gateway);
    await chat(gateway);
    const [arrived] = own.arrived;
    assert.ok(arrived !== undefined);
    const { traceId, spanId } = sentContext(arrived);
    const tree = await receiver.next(3);
    const attempt = tree.find((span) => span.spanId === spanId);
    assert.deepEqual([attempt?.name, attempt?.traceId], ['attempt 1 own', traceId]);
  });

  // @spec destination-23
  test('is never what the caller sent, and of each request its own', async (t) => {
    const { gateway, own } = await open(t);
    const given = '0af7651916cd43dd8448eb211c80319c';
    await chat(gateway, { trace: { trace_id: given } }, PARENT);
    await chat(gateway, {}, { traceparent: `00-${'0'.repeat(32)}-${'b2'.repeat(8)}-00`, tracestate: 'vendor=x' });
    await chat(gateway, {}, { traceparent: `00-${TRACE_ID}-${'b2'.repeat(8)}-00` });
    await Promise.all([chat(gateway), chat(gateway)]);
    const contexts = own.arrived.map(sentContext);
    assert.deepEqual([contexts[0]?.traceId, contexts[0]?.flags], [given, '01']);
    assert.deepEqual(
      own.arrived.map(({ headers }) => headers['tracestate']),
      [undefined, undefined, undefined, undefined, undefined],
    );
    assert.deepEqual([contexts[2]?.traceId, contexts[2]?.flags], [TRACE_ID, '00']);
    assert.equal(new Set(contexts.map(({ traceId }) => traceId)).size, 5);
    assert.equal(new Set(contexts.map(({ spanId }) => spanId)).size, 5);
  });

  // @spec destination-23
  test('is sent with requests of other kinds, too', async (t) => {
    const { gateway, own } = await open(t);
    own.script = json(200, VECTOR);
    const answer = await gateway.post('/embeddings', { model: 'acme/own', input: 'hi' }, PARENT);
    assert.equal(answer.status, 200, await answer.text());
    const [arrived] = own.arrived;
    assert.ok(arrived !== undefined);
    assert.equal(sentContext(arrived).traceId, TRACE_ID);
  });
});

// @spec destination-28
test('a request whose caller does not sample it is left out, where the operator wants that', async (t) => {
  const gateway = await startGateway({
    yaml: 'observability: { private_destinations: true, follow_sampled_flag: true }\n',
  });
  t.after(() => gateway.close());
  const receiver = await startSpanReceiver(t, gateway, { spans: 'generation' });
  const body = { model: 'sandbox/echo', messages: MESSAGES };
  const trace = (digit: string, flags: string) => `00-${digit.repeat(32)}-${'b2'.repeat(8)}-${flags}`;
  for (const traceparent of [trace('1', '00'), trace('2', '01')])
    await (await gateway.post('/chat/completions', body, { traceparent })).text();
  await (await gateway.post('/chat/completions', body)).text();
  const spans = await receiver.next(2);
  assert.deepEqual(
    spans.map(({ traceId }) => traceId === '2'.repeat(32)),
    [true, false],
  );
  assert.ok(spans.every(({ traceId }) => traceId !== '1'.repeat(32)));
});

// @spec destination-27
test('says which form a request demanded, of its answer and of its vectors', async (t) => {
  const gateway = await startGateway({ yaml: 'observability: { private_destinations: true }\n' });
  t.after(() => gateway.close());
  const receiver = await startSpanReceiver(t, gateway, { spans: 'generation' });
  const send = async (path: string, body: object) => (await gateway.post(path, body)).text();
  await send('/chat/completions', {
    model: 'sandbox/echo',
    messages: MESSAGES,
    response_format: { type: 'json_object' },
  });
  await send('/embeddings', { model: 'sandbox/embed', input: 'hi', encoding_format: 'base64' });
  await send('/chat/completions', { model: 'sandbox/echo', messages: MESSAGES });
  const spans = await receiver.next(3);
  const value = (at: number, key: string) => spans[at]?.attributes.find((one) => one.key === key)?.value;
  assert.deepEqual(
    [0, 1, 2].map((at) => value(at, 'gen_ai.output.type')),
    [{ stringValue: 'json' }, undefined, undefined],
  );
  assert.deepEqual(value(1, 'gen_ai.request.encoding_formats'), {
    arrayValue: { values: [{ stringValue: 'base64' }] },
  });
});
