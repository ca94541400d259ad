import { totalmem } from 'node:os';

/**
 * The memory that this process may use, in bytes: the limit of its cgroup, version 1 or 2, where one is set, else what the
 * machine has. An operator may configure another (`server.memory_limit_mb`): code takes its share from `Config.memory`.
 */
export function findMemoryLimit(): number {
  const constrained = process.constrainedMemory();
  // 0 or about 2^64 where nothing constrains it. @source libuv uv_get_constrained_memory
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
