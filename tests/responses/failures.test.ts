import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { chatChunk, sse, type Script } from '../support/upstream.ts';
import { shareAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

const upstreams = shareAllUpstreams();

/** Sends events and then nothing, on a connection that stays open. */
function streamOpen(text: string): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
  };
}

const CREATED = {
  type: 'response.created',
  response: { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [], usage: null },
};
const TEXT = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'So far' },
];

/** How upstreams of the format report an error in a stream: each place and name that was seen. */
const SHAPES: Readonly<Record<string, (code: string, message: string) => string>> = {
  'the code beside the message': (code, message) => sse([{ type: 'error', code, message }], { named: true }),
  'an error object': (code, message) => sse([{ type: 'error', error: { code, message } }], { named: true }),
  'an error object with a type alone': (type, message) =>
    sse([{ type: 'error', error: { type, message } }], { named: true }),
  'a failed response': (code, message) =>
    sse([{ type: 'response.failed', response: { ...CREATED.response, status: 'failed', error: { code, message } } }], {
      named: true,
    }),
  'an event of another name': (code, message) =>
    sse([{ type: 'response.error', error: { code, message } }], { named: true }),
  'no name at all': (code, message) => sse([{ error: { code, message } }]),
};

async function ask(served: UpstreamName, script: Script): Promise<Response> {
  const { gateway, upstream } = upstreams();
  upstream.script = script;
  return gateway.post('/responses', { model: `acme/${served}`, input: 'Hello', stream: true });
}

suite('an error inside a stream of an upstream of the responses format', () => {
  for (const [shape, format] of Object.entries(SHAPES)) {
    // @spec responses-pains-35
    test(`is an HTTP status before the first output: ${shape}`, async () => {
      const limited = await ask(
        'responses',
        streamOpen(sse([CREATED], { named: true }) + format('rate_limit_exceeded', 'too fast')),
      );
      assert.equal(limited.status, 429);
      assert.match(await limited.text(), /too fast/);
      const tooLong = await ask(
        'responses',
        streamOpen(sse([CREATED], { named: true }) + format('context_length_exceeded', 'too long')),
      );
      assert.equal(tooLong.status, 200);
      assert.match(await tooLong.text(), /"code":"context_length_exceeded"/);
    });

    // @spec responses-pains-35
    test(`ends the stream as failed after some output: ${shape}`, async () => {
      const begun = sse([CREATED, ...TEXT], { named: true });
      const response = await ask('responses', streamOpen(begun + format('server_error', 'it broke')));
      assert.equal(response.status, 200);
      const last = lastResponse(checkStream(await response.text()));
      const { code, message } = last['error'] as Record<string, string>;
      assert.deepEqual([last['status'], code], ['failed', 'server_error']);
      assert.match(message ?? '', /^The provider /);
      assert.match(JSON.stringify(last['output']), /So far/);
    });
  }
});

/** More than a busy machine needs; the promise is 50 ms. */
const ENDS_MS_MAX = 500;

suite('the body of a stream', () => {
  const finished = [chatChunk({ content: 'Done' }), chatChunk({}, 'stop'), '[DONE]'];
  const failed = [chatChunk({ content: 'So far' }), { error: { message: 'it broke', code: 502 } }];
  for (const [event, chunks] of [
    ['response.completed', finished],
    ['response.failed', failed],
  ] as const)
    // @spec responses-pains-18
    test(`ends with its last event, also while the upstream keeps its own open: ${event}`, async () => {
      const response = await ask('chat', streamOpen(sse(chunks)));
      let text = '';
      let terminalMs: number | undefined;
      const decoder = new TextDecoder();
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes as Uint8Array, { stream: true });
        if (text.includes(`event: ${event}`)) terminalMs ??= performance.now();
      }
      const endMs = performance.now();
      checkStream(text);
      assert.ok(terminalMs !== undefined, text);
      assert.ok(endMs - terminalMs < ENDS_MS_MAX, `it ended ${endMs - terminalMs} ms later`);
    });
});
