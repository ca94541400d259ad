import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { resultSchema, type PluginCosts } from './plugin-cost.ts';
import { isPinned } from '../processes.ts';

/** Measures plugins in a process of its own. */
export async function measurePlugins(): Promise<PluginCosts> {
  const command = [process.execPath, path.join(import.meta.dirname, 'plugin-cost.ts')];
  const [file = '', ...args] = isPinned ? ['taskset', '-c', '0', ...command] : command;
  const { stdout } = await promisify(execFile)(file, args);
  const result: unknown = JSON.parse(stdout);
  return resultSchema.parse(result);
}
