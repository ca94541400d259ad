import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { resultSchema, type PathCost } from './path-cost.ts';

/** Standard error holds a line for each request. */
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024;

/**
 * What a plain request costs, in a process of its own.
 * @param flags of path-cost.ts
 */
export async function measurePath(...flags: readonly string[]): Promise<readonly PathCost[]> {
  const program = path.join(import.meta.dirname, 'path-cost.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...flags], { maxBuffer: OUTPUT_BYTES_MAX });
  const result: unknown = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  return resultSchema.parse(result);
}
