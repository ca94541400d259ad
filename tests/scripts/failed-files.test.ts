import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import failedFiles from '../../scripts/failed-files.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

function failure(name: string, file: string, nesting = 0): TestEvent {
  return { type: 'test:fail', data: { name, file: path.join(ROOT, file), nesting } } as TestEvent;
}

async function* emit(...events: readonly TestEvent[]): AsyncGenerator<TestEvent> {
  yield* events;
}

test('names each file with a failed test once, those of a group by their suite', async () => {
  const pass = { type: 'test:pass', data: { name: 'holds', nesting: 0 } } as TestEvent;
  const lines = await Array.fromAsync(
    failedFiles(
      emit(
        failure('inner', 'src/a.test.ts', 1),
        failure('holds', 'src/a.test.ts'),
        failure('holds too', 'src/a.test.ts'),
        pass,
        failure('tests/b.test.ts', 'tests/all-together/rest.test.ts'),
      ),
    ),
  );
  assert.deepEqual(lines, ['src/a.test.ts\n', 'tests/b.test.ts\n']);
});

test('writes nothing about a run that ends early', async () => {
  async function* cutOff(): AsyncGenerator<TestEvent> {
    yield failure('holds', 'src/a.test.ts');
    throw new Error('ended');
  }
  const written: string[] = [];
  await assert.rejects(async () => {
    for await (const line of failedFiles(cutOff())) written.push(line);
  }, /ended/);
  assert.deepEqual(written, []);
});
