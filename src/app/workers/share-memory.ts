import type { Config } from '../../config/config.ts';
import { budgetMemory } from '../../config/memory-budget.ts';

/**
 * The configuration of each process of a gateway: the first process and its workers have equal shares of the memory. The
 * response cache stays whole: the first process alone has it.
 */
export function shareMemory(config: Config): Config {
  const { server, memory } = config;
  if (server.workers === 1) return config;
  const processes = server.workers + 1;
  return {
    ...config,
    memory: budgetMemory(Math.floor(memory.limitBytes / processes)),
    server: { ...server, fileMemoryBytes: Math.floor(server.fileMemoryBytes / processes) },
  };
}
