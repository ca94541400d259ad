import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import * as z from 'zod';

import { costSchema, type Cost } from './codec-cost.ts';
import { isPinned } from '../processes.ts';

/** MiB: more than any measured batch allocates. */
const YOUNG_GENERATION_MIB = 512;

/** Measures every codec in a process of its own. */
export async function measureCodecs(): Promise<readonly Cost[]> {
  const command = [
    process.execPath,
    '--expose-gc',
    `--min-semi-space-size=${YOUNG_GENERATION_MIB}`,
    `--max-semi-space-size=${YOUNG_GENERATION_MIB}`,
    path.join(import.meta.dirname, 'codec-cost.ts'),
  ];
  const [file = '', ...args] = isPinned ? ['taskset', '-c', '0', ...command] : command;
  const { stdout } = await promisify(execFile)(file, args);
  const costs: unknown = JSON.parse(stdout);
  return z.array(costSchema).parse(costs);
}
