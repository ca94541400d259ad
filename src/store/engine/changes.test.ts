import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChanges } from './changes.ts';
import type { InvalidationBus } from '../../state/contract.ts';

test('announces a local change here and on the bus, a remote change only here, and a gap like a change unless a listener handles it', () => {
  const announced: string[] = [];
  let receive = (): void => assert.fail('nobody listens');
  let gap = receive;
  const invalidations: InvalidationBus = {
    announce: (topic) => void announced.push(topic),
    subscribe(_topic, onMessage, onGap) {
      receive = () => onMessage('');
      gap = onGap ?? gap;
    },
  };
  const changes = createChanges('records', invalidations);
  let reported = 0;
  changes.subscribe(() => reported++);
  changes.announce();
  assert.deepEqual([reported, announced.length], [1, 1]);
  receive();
  gap();
  assert.deepEqual([reported, announced.length], [3, 1]);
  let gaps = 0;
  changes.subscribe(
    () => reported++,
    () => gaps++,
  );
  gap();
  assert.deepEqual([reported, gaps], [4, 1]);
});
