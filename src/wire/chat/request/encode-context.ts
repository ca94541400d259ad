import type { EncodeTarget } from '../../format.ts';
import { createWarnings, type Warnings } from '../../gateway/warnings.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly warn: Warnings['add'];
}

export function createEncodeContext(target: EncodeTarget): EncodeContext & { readonly warnings: Warnings['list'] } {
  const { add, list } = createWarnings();
  return { target, warnings: list, warn: add };
}
