import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepAlive } from './keep-alive.ts';
import type { AnswerWriter } from './operation-request.ts';

// @spec image-14
test('begins a stream after ten seconds of silence, and not before', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const written: string[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is used
  const writer = {
    startStream: (id: string) => written.push(id),
    write: (text: string) => written.push(text) > 0,
  } as unknown as AnswerWriter;
  const stop = keepAlive(writer, 'gen-1');
  t.mock.timers.tick(9_999);
  assert.deepEqual(written, []);
  t.mock.timers.tick(1);
  assert.deepEqual(written, ['gen-1', ': keep-alive\n\n']);
  stop();
  t.mock.timers.tick(60_000);
  assert.equal(written.length, 2);
});
