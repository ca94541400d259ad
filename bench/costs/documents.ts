import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { documentCostsSchema, type DocumentCosts } from './document-cost.ts';

/** Measures the reading of files in a process of its own, which has threads: it is not pinned to a core. */
export async function measureDocuments(): Promise<DocumentCosts> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'document-cost.ts')]);
  const result: unknown = JSON.parse(stdout);
  return documentCostsSchema.parse(result);
}
