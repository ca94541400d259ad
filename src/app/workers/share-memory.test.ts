import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../config/load-config.ts';
import { shareMemory } from './share-memory.ts';

const MB = 1_048_576;

function configOf(workers: number, yaml = '') {
  const argv = ['--config', 'test.yaml', '--workers', String(workers)];
  return loadConfig({ argv, env: { GATEWAY_MEMORY_LIMIT_MB: '2048' }, readFile: () => yaml });
}

test('leaves the only process all of the memory', () => {
  const config = configOf(1);
  assert.equal(shareMemory(config), config);
});

test('gives the first process and each worker an equal share, and the response cache to one of them', () => {
  const yaml = 'server: { file_memory_mb: 256, response_cache_mb: 32 }';
  const { memory, server } = shareMemory(configOf(3, yaml));
  assert.deepEqual([memory.limitBytes, server.fileMemoryBytes], [512 * MB, 64 * MB]);
  assert.deepEqual([server.responseCacheBytes, server.workers], [32 * MB, 3]);
  assert.ok(memory.bodyBytes * 4 < configOf(1).memory.bodyBytes);
});
