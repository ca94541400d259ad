import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancellation } from './cancellation.ts';

test('calls its listeners once, with the first reason', () => {
  const cancellation = new Cancellation<string>();
  const reasons: (string | undefined)[] = [];
  const removed = (): void => assert.fail('was removed');
  cancellation.onAbort(() => reasons.push(cancellation.reason));
  cancellation.onAbort(removed);
  cancellation.offAbort(removed);
  assert.equal(cancellation.aborted, false);
  cancellation.abort('gone');
  cancellation.abort('over');
  assert.deepEqual(reasons, ['gone']);
  assert.equal(cancellation.aborted, true);
});

test('aborts its signal with the same reason, whether that was made before or after', () => {
  const before = new Cancellation<string>();
  const { signal } = before;
  before.abort('gone');
  const after = new Cancellation<string>();
  after.abort('gone');
  for (const one of [signal, before.signal, after.signal]) assert.equal(one.reason, 'gone');
  assert.equal(before.signal, signal);
});
