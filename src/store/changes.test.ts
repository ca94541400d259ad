import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChanges } from './changes.ts';
import type { News } from './shared/contract.ts';

test('a change here is told here and to others, one elsewhere only here, and a gap like a change to who makes no difference', () => {
  const announced: string[] = [];
  let hear = (): void => assert.fail('nobody listens');
  let gap = hear;
  const news: News = {
    announce: (topic) => void announced.push(topic),
    subscribe(_topic, onMessage, onGap) {
      hear = () => onMessage('');
      gap = onGap ?? gap;
    },
  };
  const changes = createChanges('records', news);
  let told = 0;
  changes.subscribe(() => told++);
  changes.announce();
  assert.deepEqual([told, announced.length], [1, 1]);
  hear();
  gap();
  assert.deepEqual([told, announced.length], [3, 1]);
  let gaps = 0;
  changes.subscribe(
    () => told++,
    () => gaps++,
  );
  gap();
  assert.deepEqual([told, gaps], [4, 1]);
});
