import type { Warning } from '../../../canonical/extra.ts';
import type { EncodeTarget } from '../../format.ts';
import { createWarnings } from '../../gateway/warnings.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  warn(code: Warning['code'], path: string, message: string): void;
}

export function createEncodeContext(target: EncodeTarget): EncodeContext & { readonly warnings: readonly Warning[] } {
  const { add, list } = createWarnings();
  return { target, warnings: list, warn: add };
}
