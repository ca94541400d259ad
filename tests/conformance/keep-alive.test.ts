import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatChunk, chatStream, json, sse, stream, type Script } from '../support/upstream.ts';

/** @spec stream-4 */
const FIRST_MS = 10_000;
/** A busy machine's timers are this late at most. */
const SLACK_MS = 1_000;
/** When the silent upstream moves: after the first keep-alive, before the second. */
const LATE_MS = 11_500;
const COMMENT = ': SERVICE PROCESSING\n\n';
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const messages = [{ role: 'user', content: 'hi' }];

interface Timed {
  readonly status: number;
  /** Monotonic ms: when the request was sent, when the headers of its answer came, and the first byte of the body. */
  readonly sentMs: number;
  readonly headersMs: number;
  readonly firstByteMs: number;
  readonly first: string;
  readonly text: string;
}

async function readTimed(asking: Promise<Response>): Promise<Timed> {
  const sentMs = performance.now();
  const response = await asking;
  const headersMs = performance.now();
  const decoder = new TextDecoder();
  let firstByteMs: number | undefined;
  let first = '';
  let text = '';
  for await (const chunk of response.body ?? []) {
    const piece = decoder.decode(chunk as Uint8Array, { stream: true });
    if (firstByteMs === undefined) [firstByteMs, first] = [performance.now(), piece];
    text += piece;
  }
  return { status: response.status, sentMs, headersMs, firstByteMs: firstByteMs ?? Number.NaN, first, text };
}

/** Sends headers and a frame without content at once, and falls silent until it is time for `then`. */
function silentUntilLate(then: Script, opening?: string): Script {
  return (arrived, response, request) => {
    if (opening !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(opening);
    }
    setTimeout(() => void then(arrived, response, request), LATE_MS);
  };
}

const fail = json(500, { error: { message: 'internal' } });
const goAway: Script = (_arrived, response) => void response.destroy();
const lifecycleOnly = sse([chatChunk({ role: 'assistant', content: '' })]);

// All of them wait ten seconds, so they wait together.
suite('a silent upstream', { concurrency: true }, () => {
  for (const [path, frame] of [
    ['/chat/completions', COMMENT],
    ['/messages', PING],
  ] as const) {
    const ask = { model: 'acme/both', max_tokens: 9, stream: true, messages };

    // @spec stream-4, stream-6, stream-19
    test(`sends the first byte 10 s after admission, and can still fail over after it: ${path}`, async (t) => {
      let arrivedMs = Number.NaN;
      const { gateway, first, second } = await startTwoProviders(t, {
        // Frames without content commit to nothing, so they must not open the stream either.
        first: (arrived, response, request) => {
          arrivedMs = performance.now();
          return silentUntilLate(goAway, lifecycleOnly)(arrived, response, request);
        },
        second: stream(chatStream('from the second')),
      });
      const timed = await readTimed(gateway.post(path, ask));
      assert.equal(timed.status, 200);
      // Admission lies between the two moments that can be seen: the request was sent, and it arrived upstream.
      assert.ok(timed.headersMs - timed.sentMs >= FIRST_MS - 20, `headers after ${timed.headersMs - timed.sentMs} ms`);
      assert.ok(timed.firstByteMs - arrivedMs < FIRST_MS + SLACK_MS, `${timed.firstByteMs - arrivedMs} ms`);
      assert.equal(timed.first, frame);
      assert.deepEqual([first.arrived.length, second.arrived.length], [1, 1]);
      // The strict reader of messages streams takes the ping for what it is.
      const answer = path === '/messages' ? readMessagesStream(timed.text) : readChatStream(timed.text);
      assert.equal(answer.text, 'from the second');
      assert.equal(answer.error, undefined);
    });

    test(`keeps a stream that broke off open during failover: ${path}`, async (t) => {
      const { gateway } = await startTwoProviders(t, {
        first: stream(sse([chatChunk({ role: 'assistant', content: 'half ' })])),
        second: silentUntilLate(stream(chatStream('half and half'))),
      });
      const timed = await readTimed(gateway.post(path, ask, { 'x-service-rescue': 'enabled' }));
      const answer = path === '/messages' ? readMessagesStream(timed.text) : readChatStream(timed.text);
      assert.equal(answer.text, 'half and half');
      const [before, after] = timed.text.split(frame).slice(-2);
      assert.match(before ?? '', /half /);
      assert.match(after ?? '', /and /);
    });

    test(`keeps a stream open while all of it is held back for repair: ${path}`, async (t) => {
      const ending = sse([chatChunk({ content: ' 1,}' }), chatChunk({}, 'stop'), '[DONE]']);
      const { gateway } = await startTwoProviders(t, {
        first: silentUntilLate(
          (_arrived, response) => void response.end(ending),
          sse([chatChunk({ role: 'assistant', content: 'Here: {"a":' })]),
        ),
      });
      const requested =
        path === '/messages'
          ? { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }
          : { response_format: { type: 'json_object' } };
      const plugins = [{ id: 'response-healing', stream: true }];
      const timed = await readTimed(gateway.post(path, { ...ask, ...requested, plugins }));
      const answer = path === '/messages' ? readMessagesStream(timed.text) : readChatStream(timed.text);
      assert.equal(answer.text, '{"a": 1}');
      assert.ok(timed.text.includes(frame));
    });

    // @spec stream-2
    test(`reports a total failure after it in the stream, with one terminal frame: ${path}`, async (t) => {
      const { gateway, second } = await startTwoProviders(t, { first: silentUntilLate(fail), second: fail });
      const timed = await readTimed(gateway.post(path, ask));
      assert.equal(timed.status, 200);
      assert.equal(timed.first, frame);
      assert.equal(second.arrived.length, 1);
      const answer = path === '/messages' ? readMessagesStream(timed.text) : readChatStream(timed.text);
      assert.equal(answer.error?.code, 502);
      assert.equal(answer.text, '');
      if ('finish' in answer) assert.equal(answer.finish, 'error');
    });
  }

  // @spec stream-3
  test('returns a real status for a failure before it', async (t) => {
    const { gateway } = await startTwoProviders(t, {
      first: (arrived, response, request) => void setTimeout(() => void fail(arrived, response, request), 8_000),
      second: fail,
    });
    const timed = await readTimed(gateway.post('/chat/completions', { model: 'acme/both', stream: true, messages }));
    assert.equal(timed.status, 502);
    assert.equal((JSON.parse(timed.text) as { error: { code: number } }).error.code, 502);
  });

  // @spec stream-5
  test('sends no keep-alive in a response that is not streamed', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: silentUntilLate(fail), second: fail });
    const timed = await readTimed(gateway.post('/messages', { model: 'acme/both', max_tokens: 9, messages }));
    assert.equal(timed.status, 502);
    assert.ok(timed.headersMs - timed.sentMs >= LATE_MS - 20);
  });
});
