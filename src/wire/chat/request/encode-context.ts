import type { ClientFormatId } from '../../../canonical/extra.ts';
import { pathOfSetting } from '../../gateway/source/source-paths.ts';
import type { EncodeTarget } from '../../format.ts';
import { createWarnings, type Warnings } from '../../gateway/warnings.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly warn: Warnings['add'];
}

export function createEncodeContext(
  caller: ClientFormatId,
  target: EncodeTarget,
): EncodeContext & { readonly warnings: Warnings['list'] } {
  const { add, list } = createWarnings();
  return { target, warnings: list, warn: (code, path, message) => add(code, pathOfSetting(caller, path), message) };
}
