import type { Warning } from '../../canonical/extra.ts';
import type { EncodeTarget } from '../format.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  warn(code: Warning['code'], path: string, message: string): void;
}

/** Enough to see what happens to a request; a long conversation would only repeat itself. */
const WARNINGS_MAX = 50;

export function createEncodeContext(target: EncodeTarget): EncodeContext & { readonly warnings: readonly Warning[] } {
  const warnings: Warning[] = [];
  return {
    target,
    warnings,
    warn(code, path, message) {
      if (warnings.length < WARNINGS_MAX) warnings.push({ code, path, message });
    },
  };
}
