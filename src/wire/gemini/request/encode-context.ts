import type { Warning } from '../../../canonical/extra.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import { pathOfSetting } from '../../gateway/source/source-paths.ts';
import type { EncodeTarget } from '../../format.ts';
import { createWarnings, type Warnings } from '../../gateway/warnings.ts';
import type { GeminiFacts } from '../dialect.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly request: GenerationRequest;
  readonly target: EncodeTarget;
  readonly facts: GeminiFacts;
  readonly warnings: Warnings;
  /** Whether the endpoint takes a parameter of the catalog's vocabulary. @spec route-20 */
  readonly supports: (parameter: string) => boolean;
  /** Adds to the warnings. Settings go by the names that chat has for them. */
  readonly warn: (code: Warning['code'], path: string, message: string) => void;
  /** The same, but only for the first of its kind. */
  readonly warnOnce: (code: Warning['code'], path: string, message: string) => void;
}

export function createEncodeContext(request: GenerationRequest, target: EncodeTarget): EncodeContext {
  const warnings = createWarnings();
  const reported = new Set<string>();
  const listed = target.supportedParameters;
  const warn: EncodeContext['warn'] = (code, path, message) =>
    warnings.add(code, pathOfSetting(request.format, path), message);
  return {
    request,
    target,
    facts: target.dialect.gemini ?? {},
    warnings,
    supports: (parameter) => listed === undefined || supportsParameter(listed, parameter),
    warn,
    warnOnce: (code, path, message) => {
      if (reported.has(message)) return;
      reported.add(message);
      warn(code, path, message);
    },
  };
}
