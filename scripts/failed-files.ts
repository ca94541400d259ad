import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const ROOT = path.join(import.meta.dirname, '..');

/**
 * A reporter of Node's test runner: a line for each file with a test that failed, from the project's root. Within a group
 * that one process runs, the outermost suite bears the name of its file: see `tests/support/run-together.ts`. It writes
 * them when the run is over: the list of a run that was ended early would pass for all that failed.
 */
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.nesting > 0) continue;
    failed.add(data.name.endsWith('.test.ts') ? data.name : path.relative(ROOT, data.file ?? data.name));
  }
  for (const file of failed) yield `${file}\n`;
}
