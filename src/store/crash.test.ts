import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { systemClock as clock } from '../lib/clock.ts';
import { openDatabase } from './database.ts';
import { createGenerationStore } from './generations.ts';
import { sampleGeneration } from './test-generation.ts';

const KILLS = 4;
/** Rows that are acknowledged before the process is killed. */
const ROWS_BEFORE_KILL = 400;
const WRITERS = 8;

/** This file is its own child: with a path in its environment it writes until it is killed. */
const { CRASH_DATABASE } = process.env;
if (CRASH_DATABASE !== undefined) await writeForever(CRASH_DATABASE);
else
  test('kill -9 loses no row that was acknowledged', { timeout: 60_000 }, async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'crash-'));
    context.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'crash.db');
    const acknowledged = new Set<string>();
    for (let kill = 0; kill < KILLS; kill++) {
      for (const id of await writeAndKill(path)) acknowledged.add(id);
      const lost = await findMissing(path, acknowledged);
      assert.deepEqual(lost, [], `after kill ${kill + 1}`);
    }
    assert.ok(acknowledged.size >= KILLS * ROWS_BEFORE_KILL);
  });

async function writeForever(path: string): Promise<never> {
  const database = await openDatabase({ path, clock });
  const store = createGenerationStore({ database, onLost: () => process.exit(1) });
  const run = `${process.pid}-${Date.now()}`;
  let next = 0;
  const write = async (): Promise<never> => {
    for (;;) {
      const id = `gen-${run}-${next++}`;
      await store.append(sampleGeneration({ id }));
      process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return process.exit(1);
}

/** The ids that the child said were durable, down to the moment of its death. */
async function writeAndKill(path: string): Promise<readonly string[]> {
  // Under the test runner's own variable a child would report as a test.
  const { NODE_TEST_CONTEXT: _runner, ...env } = process.env;
  const child = spawn(process.execPath, [import.meta.filename], {
    env: { ...env, CRASH_DATABASE: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const died = once(child, 'exit');
  const ids: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    ids.push(line);
    if (ids.length === ROWS_BEFORE_KILL) child.kill('SIGKILL');
  }
  const [, signal] = await died;
  assert.equal(signal, 'SIGKILL');
  return ids;
}

async function findMissing(path: string, acknowledged: ReadonlySet<string>): Promise<readonly string[]> {
  const database = await openDatabase({ path, clock });
  const rows = await database.kysely.selectFrom('generations').select('id').execute();
  await database.close();
  const found = new Set(rows.map(({ id }) => id));
  return [...acknowledged].filter((id) => !found.has(id));
}
