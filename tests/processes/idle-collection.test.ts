import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTRY, startGateway } from '../support/cli/spawn-cli.ts';

/** V8 looks every eight seconds whether a process has little to do. */
const COLLECTED_MS = 90_000;

test(
  'keeps the shapes of objects, and the code for them, in collections while it is idle',
  { timeout: COLLECTED_MS },
  async (t) => {
    const command = [process.execPath, '--trace-gc', '--trace-memory-reducer', ENTRY];
    const gateway = await startGateway(t, { command, env: { GATEWAY_API_KEY: 'key-0123456789abcdef' } });
    const [, collection = ''] = await gateway.until(/Memory reducer: finished GC[^]*? ms: (Mark-Compact[^\n]*)\n/);
    assert.doesNotMatch(collection, /\(reduce\)/);
  },
);
