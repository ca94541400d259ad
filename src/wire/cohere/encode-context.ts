import type { GenerationRequest } from '../../canonical/request.ts';
import { supportsParameter } from '../../canonical/supports-parameter.ts';
import type { EncodeTarget } from '../format.ts';
import { createWarnings, type Warnings } from '../gateway/warnings.ts';

/** What the parts of one request's encoding share. */
export interface EncodeContext {
  readonly request: GenerationRequest;
  readonly target: EncodeTarget;
  /** Takes paths in the words of chat callers, and gives them in the words of this one. */
  readonly warnings: Warnings;
  /** Whether the endpoint takes a parameter of the catalog's vocabulary. @source decisions.md 8 */
  readonly supports: (parameter: string) => boolean;
}

/** What callers of the messages format call the options that chat callers name otherwise. @source generation.md 7.1 */
const NAME_IN_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_sequences'],
  ['reasoning', 'thinking'],
  ['reasoning.max_tokens', 'thinking.budget_tokens'],
  ['verbosity', 'output_config.effort'],
  ['response_format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
]);

export function createEncodeContext(request: GenerationRequest, target: EncodeTarget): EncodeContext {
  const listed = target.supportedParameters;
  const { add, list } = createWarnings();
  const nameOf = (path: string): string => (request.format === 'chat' ? path : (NAME_IN_MESSAGES.get(path) ?? path));
  return {
    request,
    target,
    warnings: { add: (code, path, message) => add(code, nameOf(path), message), list },
    supports: (parameter) => listed === undefined || supportsParameter(listed, parameter),
  };
}
