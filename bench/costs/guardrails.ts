import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { costsSchema, type GuardrailCosts } from './content-filter-cost.ts';

/** Measures filters in a process of its own, which has threads: it is not pinned to a core. */
export async function measureGuardrails(): Promise<GuardrailCosts> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    path.join(import.meta.dirname, 'content-filter-cost.ts'),
  ]);
  const result: unknown = JSON.parse(stdout);
  return costsSchema.parse(result);
}
