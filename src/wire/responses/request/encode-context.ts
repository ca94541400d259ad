import type { GenerationRequest } from '../../../canonical/request.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import type { EncodeTarget } from '../../format.ts';
import { createWarnings, type Warnings } from '../../gateway/warnings.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly request: GenerationRequest;
  readonly target: EncodeTarget;
  readonly warnings: Warnings;
  /** Whether the endpoint takes a parameter of the catalog's vocabulary, and its model does. @spec route-20 */
  readonly supports: (parameter: string) => boolean;
}

export function createEncodeContext(request: GenerationRequest, target: EncodeTarget): EncodeContext {
  const listed = target.supportedParameters;
  const { refused } = target.dialect;
  return {
    request,
    target,
    warnings: createWarnings(),
    supports: (parameter) =>
      refused?.has(parameter) !== true && (listed === undefined || supportsParameter(listed, parameter)),
  };
}
