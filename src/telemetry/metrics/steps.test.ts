import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { countSteps, observeSteps } from './steps.ts';

test('includes pending steps in the text when it is read, and in the next one unchanged', async () => {
  const registry = new Registry();
  const registers = [registry];
  const count = countSteps({ name: 'spent', help: 'Spent.', labelNames: ['by'] as const, registers });
  const observe = observeSteps({
    name: 'took',
    help: 'Took.',
    labelNames: ['by'] as const,
    buckets: [1, 2],
    registers,
  });
  const spent = count({ by: 'a' });
  count({ by: 'nobody' });
  spent.add(0.5);
  spent.add(1);
  const took = observe({ by: 'a' });
  // More than the queue holds.
  for (let index = 0; index < 2_500; index++) took.add(index % 2 === 0 ? 0.5 : 1.5);
  const wanted = [
    'spent{by="a"} 1.5',
    'took_bucket{le="1",by="a"} 1250',
    'took_bucket{le="2",by="a"} 2500',
    'took_bucket{le="+Inf",by="a"} 2500',
    'took_sum{by="a"} 2500',
    'took_count{by="a"} 2500',
  ];
  const read = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(await read(), wanted);
  assert.deepEqual(await read(), wanted);
});
