import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { isPinned } from '../processes.ts';
import { resultSchema, type RoutingResult } from './routing-cost.ts';

/** Measures the planner in a process of its own. */
export async function measureRouting(): Promise<RoutingResult> {
  const command = [process.execPath, '--expose-gc', path.join(import.meta.dirname, 'routing-cost.ts')];
  const [file = '', ...args] = isPinned ? ['taskset', '-c', '0', ...command] : command;
  const { stdout } = await promisify(execFile)(file, args);
  const result: unknown = JSON.parse(stdout);
  return resultSchema.parse(result);
}
