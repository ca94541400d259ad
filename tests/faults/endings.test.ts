import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import {
  formatStream,
  formatWhole,
  formatOfPath,
  isStreamed,
  emit,
  type SpokenFormat,
} from '../support/upstreams/speak.ts';
import { converseEvents, frameConverse, type Spoken } from '../support/upstreams/spoken.ts';
import { json, sse, startUpstream, type Script } from '../support/upstream.ts';

const ADAPTERS = {
  chat: { adapter: 'openai-compatible', model: 'one-2026' },
  messages: { adapter: 'messages-compatible', model: 'one-2026' },
  responses: { adapter: 'openai', model: 'gpt-5.4-pro' },
  gemini: { adapter: 'google', model: 'gemini-3-pro-preview' },
  converse: { adapter: 'bedrock', model: 'us.amazon.nova-2-lite-v1:0' },
  cohere: { adapter: 'cohere', model: 'command-next' },
} as const satisfies Readonly<Record<SpokenFormat, object>>;
const FORMATS = Object.keys(ADAPTERS) as SpokenFormat[];

const upstream = await startUpstream(json(500, {}));
const second = await startUpstream(emit('second'));
const gateway = await startGateway({ yaml: JSON.stringify(configure()) });
after(async () => {
  await gateway.close();
  await upstream.close();
  await second.close();
});

/** Each model is at a scripted upstream first, and then at one that answers. */
function configure(): JsonObject {
  const price = { prompt: 1, completion: 2 };
  const next = { provider: 'second', model: 'one-2026', price };
  return {
    providers: {
      second: { adapter: 'openai-compatible', base_url: second.baseUrl, api_key: 'upstream-secret' },
      hasty: {
        adapter: 'openai-compatible',
        base_url: `${upstream.baseUrl}/chat/v1`,
        api_key: 'upstream-secret',
        timeouts: { idle_ms: 200 },
      },
      ...Object.fromEntries(
        FORMATS.map((format) => [
          format,
          {
            adapter: ADAPTERS[format].adapter,
            base_url: `${upstream.baseUrl}/${format}/v1`,
            api_key: 'upstream-secret',
            ...(format === 'converse' && { options: { region: 'us-east-1' } }),
          },
        ]),
      ),
    },
    models: Object.fromEntries(
      FORMATS.flatMap((format) => [
        [`acme/${format}`, { endpoints: [{ provider: format, model: ADAPTERS[format].model, price }, next] }],
        // Nothing that failed above makes these rest.
        [`acme/${format}-alone`, { endpoints: [{ provider: format, model: 'alone', price }] }],
        ['acme/hasty-alone', { endpoints: [{ provider: 'hasty', model: 'alone', price }] }],
      ]),
    ),
  };
}

const ABSENT = Symbol('absent');
/** Members that say why an answer ended, in any format. */
const REASONS = /"(?:finish_reason|stop_reason|stopReason|finishReason|status)":"[^"]*"(,?)/g;

/** The answer without a reason for its end: the member is left out, or holds this. */
function unreasoned(spoken: Spoken, value: null | '' | typeof ABSENT): Script {
  const put = (text: string): string =>
    text
      .replaceAll(REASONS, (member: string, comma: string) =>
        value === ABSENT ? '' : `${member.split(':')[0]}:${JSON.stringify(value)}${comma}`,
      )
      .replaceAll(',}', '}');
  return (arrived, response) => {
    const format = formatOfPath(arrived.path);
    const streamed = isStreamed(format, arrived);
    const { type, body } = streamed ? formatStream(format, spoken) : formatWhole(format, spoken);
    response.writeHead(200, { 'content-type': type });
    if (format !== 'converse' || !streamed) response.end(put(body.toString()));
    else response.end(frameConverse(JSON.parse(put(JSON.stringify(converseEvents(spoken)))) as never));
  };
}

interface Ended {
  readonly text: string;
  readonly finish: unknown;
  readonly recorded: string | null;
  readonly native: string | null;
  readonly costNanoUsd: number | null;
  readonly error: unknown;
}

async function ask(format: string, path: '/chat/completions' | '/messages', stream: boolean): Promise<Ended> {
  const messages = [{ role: 'user', content: 'hi' }];
  const response = await gateway.post(path, { model: `acme/${format}`, max_tokens: 60, stream, messages });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const record = await gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
  assert.ok(record);
  const { finishReason: recorded, nativeFinishReason: native, costNanoUsd } = record;
  return { ...readEnd(text, path, stream), recorded, native, costNanoUsd };
}

function readEnd(text: string, path: string, stream: boolean): Pick<Ended, 'text' | 'finish' | 'error'> {
  if (stream && path === '/messages') {
    const { text: stated, stopReason: finish, error } = readMessagesStream(text);
    return { text: stated, finish, error };
  }
  if (stream) {
    const { text: stated, finish, error } = readChatStream(text);
    return { text: stated, finish, error };
  }
  const body = JSON.parse(text) as Record<string, never>;
  if (path === '/messages') {
    const { content, stop_reason: finish, error } = body as unknown as MessagesBody;
    return { text: content.map(({ text: piece = '' }) => piece).join(''), finish, error };
  }
  const [choice] = body['choices'] as unknown as readonly ChatChoice[];
  return { text: choice?.message.content ?? '', finish: choice?.finish_reason, error: undefined };
}

interface MessagesBody {
  readonly content: readonly { readonly text?: string }[];
  readonly stop_reason: unknown;
  readonly error: unknown;
}
interface ChatChoice {
  readonly message: { readonly content: string | null };
  readonly finish_reason: unknown;
}

const STATED: Spoken = { parts: [{ type: 'text', text: 'Said.' }] };
const SILENT: Spoken = { parts: [{ type: 'text', text: '' }] };
/** Of these streams the last event says how the answer ended, or there is no last event. */
const ENDS_BY_EVENT: ReadonlySet<SpokenFormat> = new Set(['responses', 'gemini']);

suite('an end without a finish reason', () => {
  for (const format of FORMATS)
    for (const stream of [false, true]) {
      if (stream && ENDS_BY_EVENT.has(format)) continue;
      // @spec chat-response-6
      test(`is unknown after content: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        for (const value of [ABSENT, null, ''] as const)
          for (const path of ['/chat/completions', '/messages'] as const) {
            upstream.script = unreasoned(STATED, value);
            const { costNanoUsd, ...ended } = await ask(format, path, stream);
            const expected = { text: 'Said.', finish: null, error: undefined, recorded: 'unknown', native: null };
            assert.deepEqual(ended, expected, `${path}, ${String(value)}`);
            assert.equal(costNanoUsd, 20_000);
          }
      });
    }

  for (const format of FORMATS)
    for (const stream of [false, true])
      test(`leads to the next endpoint without content: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        upstream.script = unreasoned(SILENT, null);
        if (stream && format === 'responses') upstream.script = endingWith([]);
        const { text, recorded } = await ask(format, '/chat/completions', stream);
        assert.deepEqual([text, recorded], ['second', 'stop']);
      });

  test('is no response for a messages stream of message_stop alone', async () => {
    upstream.script = endingWith([{ type: 'message_stop' }]);
    const { text } = await ask('messages', '/messages', true);
    assert.equal(text, 'second');
  });

  test('keeps calls and adds no reason in chat', async () => {
    upstream.script = unreasoned({ parts: [{ type: 'call', id: 'call_1', name: 'f', input: '{}' }] }, null);
    const { finish, recorded } = await ask('chat', '/messages', false);
    assert.deepEqual([finish, recorded], [null, 'unknown']);
  });
});

function endingWith(events: readonly object[]): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse(events, { named: true }));
  };
}

/** The stream without its last events, and a connection that stays open. */
function withoutFarewell(format: SpokenFormat, farewell: RegExp): Script {
  return (_arrived, response) => {
    const { type, body } = formatStream(format, STATED);
    const text = body.toString();
    assert.match(text, farewell);
    response.writeHead(200, { 'content-type': type });
    response.write(text.replace(farewell, ''));
  };
}

suite('a response that is complete except for its terminal frame', () => {
  for (const [format, farewell] of [
    ['chat', /data: \[DONE\]\n\n$/],
    ['messages', /event: message_stop\n.*\n\n$/],
    ['gemini', /$/],
  ] as const)
    // @spec stream-10
    test(`ends soon and is charged when neither the terminal frame nor a close comes: ${format}`, async () => {
      upstream.script = withoutFarewell(format, farewell);
      const startedMs = performance.now();
      const { text, recorded, costNanoUsd, error } = await ask(`${format}-alone`, '/chat/completions', true);
      assert.deepEqual([text, recorded, costNanoUsd, error], ['Said.', 'stop', 20_000, undefined]);
      assert.ok(performance.now() - startedMs < 60_000);
    });

  test('ends despite keep-alives of the upstream', async () => {
    upstream.script = (arrived, response, request) => {
      void withoutFarewell('chat', /data: \[DONE\]\n\n$/)(arrived, response, request);
      const timer = setInterval(() => response.write(': PROCESSING\n\n'), 100);
      response.on('close', () => clearInterval(timer));
    };
    const startedMs = performance.now();
    const { text, recorded } = await ask('chat-alone', '/chat/completions', true);
    assert.deepEqual([text, recorded], ['Said.', 'stop']);
    assert.ok(performance.now() - startedMs < 60_000);
  });

  test('ends soon when it was requested without streaming', async () => {
    upstream.script = withoutFarewell('chat', /data: \[DONE\]\n\n$/);
    const { text, recorded, costNanoUsd } = await ask('chat-alone', '/chat/completions', false);
    assert.deepEqual([text, recorded, costNanoUsd], ['Said.', 'stop', 20_000]);
  });

  test('ends like a close after a reset in place of the terminal frame', async () => {
    upstream.script = (arrived, response, request) => {
      void withoutFarewell('chat', /data: \[DONE\]\n\n$/)(arrived, response, request);
      setTimeout(() => response.socket?.resetAndDestroy(), 50);
    };
    const { text, recorded, costNanoUsd } = await ask('chat-alone', '/chat/completions', true);
    assert.deepEqual([text, recorded, costNanoUsd], ['Said.', 'stop', 20_000]);
  });

  test('ends without counts after silence until the idle limit', async () => {
    upstream.script = withoutFarewell('chat', /data: [^\n]*"usage".*\n\ndata: \[DONE\]\n\n$/);
    const { text, recorded, costNanoUsd, error } = await ask('hasty-alone', '/chat/completions', true);
    assert.deepEqual([text, recorded, error], ['Said.', 'stop', undefined]);
    assert.ok((costNanoUsd ?? 0) > 0);
  });
});
