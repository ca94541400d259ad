import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { isPinned } from '../processes.ts';
import { resultSchema, type RouterCosts } from './router-cost.ts';

/** Measures routers in a process of its own. */
export async function measureRouters(): Promise<RouterCosts> {
  const command = [process.execPath, path.join(import.meta.dirname, 'router-cost.ts')];
  const [file = '', ...args] = isPinned ? ['taskset', '-c', '0', ...command] : command;
  const { stdout } = await promisify(execFile)(file, args);
  const result: unknown = JSON.parse(stdout);
  return resultSchema.parse(result);
}
