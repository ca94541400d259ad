import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { speakChat, startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatChunk, json, sse, stream } from '../support/upstream.ts';

const { gateway, chat } = await startScriptedFormats({ after });
const ON = { 'X-Service-Metadata': 'enabled' };
const messages = [{ role: 'user', content: 'hi' }];
const ask = { model: 'acme/chat', max_tokens: 50, messages };
const PATHS = ['/chat/completions', '/messages'] as const;

interface Metadata {
  readonly attempt: number;
  readonly endpoints: {
    readonly total: number;
    readonly available: readonly { readonly model: string; readonly provider: string; readonly selected: boolean }[];
  };
  readonly generation_time: number;
  readonly is_byok: boolean;
  readonly region: string;
  readonly requested: string;
  readonly strategy: string;
  readonly summary: string;
  readonly attempts?: readonly { readonly status: number }[];
}

interface Answered {
  readonly service_metadata?: Metadata;
  readonly error?: { readonly code: number };
}

/** Every member and its type; nothing else may be there. @spec metadata-3 */
function checkShape(metadata: Metadata | undefined): asserts metadata is Metadata {
  assert.ok(metadata !== undefined, 'there is metadata');
  assert.deepEqual(
    Object.keys(metadata)
      .filter((member) => member !== 'attempts' && member !== 'pipeline')
      .toSorted(),
    ['attempt', 'endpoints', 'generation_time', 'is_byok', 'region', 'requested', 'strategy', 'summary'],
  );
  for (const integer of [metadata.attempt, metadata.generation_time, metadata.endpoints.total])
    assert.ok(Number.isInteger(integer) && integer >= 0, `${integer} is an integer`);
  for (const text of [metadata.region, metadata.requested, metadata.strategy, metadata.summary])
    assert.ok(typeof text === 'string' && text !== '');
  assert.equal(metadata.is_byok, false);
  assert.deepEqual(Object.keys(metadata.endpoints).toSorted(), ['available', 'total']);
  for (const endpoint of metadata.endpoints.available) {
    assert.deepEqual(Object.keys(endpoint).toSorted(), ['model', 'provider', 'selected']);
    assert.equal(typeof endpoint.selected, 'boolean');
  }
}

async function answerOf(response: Response): Promise<Answered> {
  return (await response.json()) as Answered;
}

for (const path of PATHS)
  suite(`service_metadata, ${path}`, () => {
    // @spec metadata-1, metadata-5
    test('describes the route of a response that is not streamed', async () => {
      const { service_metadata: metadata } = await answerOf(await gateway.post(path, ask, ON));
      checkShape(metadata);
      const { generation_time: _time, ...rest } = metadata;
      assert.deepEqual(rest, {
        requested: 'acme/chat',
        strategy: 'direct',
        region: 'local',
        summary: 'available=1, selected=Chatty',
        attempt: 1,
        is_byok: false,
        endpoints: { total: 1, available: [{ provider: 'Chatty', model: 'acme/chat', selected: true }] },
        attempts: [{ provider: 'Chatty', model: 'acme/chat', status: 200 }],
      });
    });

    // @spec request-25
    test('is enabled whatever the case of header and value', async () => {
      for (const value of ['enabled', 'ENABLED', 'Enabled'])
        for (const name of ['X-Service-Metadata', 'x-service-metadata', 'X-SERVICE-METADATA'])
          checkShape((await answerOf(await gateway.post(path, ask, { [name]: value }))).service_metadata);
    });

    test('is enabled by the older header, and the newer one wins', async () => {
      const legacy = { 'X-Service-Experimental-Metadata': 'enabled' };
      checkShape((await answerOf(await gateway.post(path, ask, legacy))).service_metadata);
      const both = await answerOf(await gateway.post(path, ask, { ...legacy, 'X-Service-Metadata': 'disabled' }));
      assert.ok(!('service_metadata' in both));
    });

    // @spec metadata-1
    test('is absent without the header, or with any other value', async () => {
      for (const headers of [
        {},
        ...['disabled', 'true', '1', 'enabled-ish', ''].map((value) => ({ 'X-Service-Metadata': value })),
      ]) {
        const answer = await answerOf(await gateway.post(path, ask, headers));
        assert.ok(!('service_metadata' in answer), JSON.stringify(headers));
      }
    });

    // @spec metadata-2
    test('is absent from 400 and 401, which were not routed', async () => {
      const bad = await gateway.post(path, { ...ask, temperature: 9 }, ON);
      const stranger = await gateway.post(path, ask, { ...ON, authorization: 'Bearer wrong' });
      const unknown = await gateway.post(path, { ...ask, model: 'nobody/nothing' }, ON);
      assert.deepEqual([bad.status, stranger.status, unknown.status], [400, 401, 404]);
      for (const response of [bad, stranger, unknown]) assert.ok(!('service_metadata' in (await answerOf(response))));
    });

    for (const streaming of [false, true])
      // @spec metadata-8
      test(`accompanies the error of a 502, with no endpoint selected, stream: ${streaming}`, async (t) => {
        const { gateway: two } = await startTwoProviders(t, { first: json(500, {}), second: json(500, {}) });
        const body = { ...ask, model: 'acme/both', stream: streaming };
        const response = await two.post(path, body, ON);
        assert.equal(response.status, 502);
        const { service_metadata: metadata } = await answerOf(response);
        checkShape(metadata);
        assert.deepEqual([metadata.attempt, metadata.endpoints.total], [2, 2]);
        assert.ok(metadata.endpoints.available.every(({ selected }) => !selected));
        assert.equal(metadata.summary, 'available=2');
        assert.deepEqual(
          metadata.attempts?.map(({ status }) => status),
          [500, 500],
        );
      });

    // @spec metadata-4, metadata-7
    test('reports a fallback: the second endpoint as attempt 2, a second model as strategy fallback', async (t) => {
      const { gateway: two } = await startTwoProviders(t, {
        first: json(500, {}),
        second: json(200, chatAnswer('ok')),
      });
      const endpoint = await answerOf(await two.post(path, { ...ask, model: 'acme/both' }, ON));
      checkShape(endpoint.service_metadata);
      assert.deepEqual([endpoint.service_metadata.attempt, endpoint.service_metadata.strategy], [2, 'direct']);
      assert.equal(endpoint.service_metadata.summary, 'available=2, selected=Second');
      const model = await answerOf(await two.post(path, { ...ask, model: 'acme/first', models: ['acme/second'] }, ON));
      checkShape(model.service_metadata);
      assert.equal(model.service_metadata.strategy, 'fallback');
      assert.equal(model.service_metadata.requested, 'acme/first');
      assert.deepEqual(
        model.service_metadata.endpoints.available.filter(({ selected }) => selected),
        [{ provider: 'Second', model: 'acme/second', selected: true }],
      );
    });

    // @spec error-23, route-21, metadata-7
    test('accompanies a 404 for constraints that no endpoint fits', async () => {
      const response = await gateway.post(path, { ...ask, provider: { only: ['wordy'] } }, ON);
      assert.equal(response.status, 404);
      const { service_metadata: metadata } = await answerOf(response);
      checkShape(metadata);
      assert.deepEqual([metadata.attempt, metadata.summary, metadata.endpoints.total], [0, 'available=0', 1]);
    });
  });

// @spec metadata-1
test('comes once in a chat stream, in the chunk without choices before [DONE]', async () => {
  const response = await gateway.post('/chat/completions', { ...ask, stream: true }, ON);
  const { chunks } = readChatStream(await response.text());
  const carrying = chunks.filter((chunk) => 'service_metadata' in chunk);
  assert.equal(carrying.length, 1);
  assert.equal(carrying[0], chunks.at(-1));
  assert.deepEqual(chunks.at(-1)?.['choices'], []);
  checkShape((chunks.at(-1) as Answered).service_metadata);
});

// @spec metadata-1
test('comes once in a messages stream, in message_stop', async () => {
  const response = await gateway.post('/messages', { ...ask, stream: true }, ON);
  const { events } = readMessagesStream(await response.text());
  const carrying = events.filter((event) => 'service_metadata' in event);
  assert.deepEqual(
    carrying.map(({ type }) => type),
    ['message_stop'],
  );
  checkShape((carrying[0] as Answered).service_metadata);
});

test('is absent from a stream without the header', async () => {
  for (const path of PATHS) {
    const text = await (await gateway.post(path, { ...ask, stream: true })).text();
    assert.ok(!text.includes('service_metadata'), path);
  }
});

test('accompanies an error in a stream', async (t) => {
  t.after(() => {
    chat.script = speakChat('Said in chat.');
  });
  chat.script = stream(sse([chatChunk({ role: 'assistant', content: 'half' })]));
  const chatText = await (await gateway.post('/chat/completions', { ...ask, stream: true }, ON)).text();
  const { chunks } = readChatStream(chatText);
  const failed = chunks.find((chunk) => 'error' in chunk) as Answered | undefined;
  checkShape(failed?.service_metadata);
  const messagesText = await (await gateway.post('/messages', { ...ask, stream: true }, ON)).text();
  const { events } = readMessagesStream(messagesText);
  assert.equal(events.at(-1)?.type, 'error');
  checkShape((events.at(-1) as Answered | undefined)?.service_metadata);
});
