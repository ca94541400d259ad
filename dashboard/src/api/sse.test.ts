import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readServerSentEvents, type ServerSentEvent } from './sse.ts';

async function read(...pieces: readonly string[]): Promise<readonly ServerSentEvent[]> {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return Array.fromAsync(readServerSentEvents(body));
}

test('reads events whatever pieces they arrive in', async () => {
  const events = await read(
    'retry: 1000\n\neve',
    'nt: rows\nid: e:1\ndata: {"a"',
    ':1}\n',
    '\n: \n\ndata: [DONE]\r\n\r\n',
  );
  assert.deepEqual(events, [
    { name: 'rows', id: 'e:1', data: '{"a":1}' },
    { name: 'message', id: undefined, data: '[DONE]' },
  ]);
});

test('joins the lines of one event', async () => {
  assert.deepEqual(
    (await read('data: a\ndata:b\n\n')).map(({ data }) => data),
    ['a\nb'],
  );
});

test('gives no event that has no end', async () => {
  assert.deepEqual(await read('data: half'), []);
});
