import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { resultSchema, type PathCost } from './path-cost.ts';

/** Counts the functions of a plain request in a process of its own. */
export async function measurePath(): Promise<readonly PathCost[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'path-cost.ts')]);
  const result: unknown = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  return resultSchema.parse(result);
}
