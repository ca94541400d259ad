import type { GenerationRequest } from '../../../canonical/request.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import { pathOfSetting } from '../../gateway/source/source-paths.ts';
import type { EncodeTarget } from '../../format.ts';
import { createWarnings, type Warnings } from '../../gateway/warnings.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly request: GenerationRequest;
  readonly target: EncodeTarget;
  /** Takes paths with the member names of chat, and reports them with those of the caller. */
  readonly warnings: Warnings;
  /** Whether the endpoint takes a parameter of the catalog's vocabulary. @spec route-20 */
  readonly supports: (parameter: string) => boolean;
}

export function createEncodeContext(request: GenerationRequest, target: EncodeTarget): EncodeContext {
  const listed = target.supportedParameters;
  const { add, list } = createWarnings();
  return {
    request,
    target,
    warnings: { add: (code, path, message) => add(code, pathOfSetting(request.format, path), message), list },
    supports: (parameter) => listed === undefined || supportsParameter(listed, parameter),
  };
}
