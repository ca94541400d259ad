import type { CacheMark } from '../../canonical/blocks.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { supportsParameter } from '../../canonical/supports-parameter.ts';
import type { EncodeTarget } from '../format.ts';
import type { Warnings } from '../gateway/warnings.ts';
import { GATEWAY_RESULTS } from '../messages/draw-block.ts';
import type { ConverseFacts } from './dialect.ts';
import { stringOf } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/** What drawing one request depends on. */
export interface EncodeContext {
  readonly request: GenerationRequest;
  readonly target: EncodeTarget;
  readonly facts: ConverseFacts;
  /** Whether the endpoint takes a parameter of the catalog's vocabulary. @source decisions.md 8 */
  readonly supports: (parameter: string) => boolean;
  readonly warnings: Warnings;
  /** Calls and results of tools that ran at the gateway; no upstream knows them. */
  readonly hiddenCallIds: ReadonlySet<string>;
  /** Names that documents of this request have already. */
  readonly documentNames: Set<string>;
}

/** Settings that callers of the messages format know by other names than those of chat. @source generation.md 7.1, 7.3 */
const NAMES_IN_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_sequences'],
  ['reasoning', 'thinking'],
  ['reasoning.max_tokens', 'thinking.budget_tokens'],
  ['verbosity', 'output_config.effort'],
  ['response_format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
]);

/** @param warnings gets what is noted here, with each setting by the name that the caller knows it by */
export function createEncodeContext(
  request: GenerationRequest,
  target: EncodeTarget,
  warnings: Warnings,
): EncodeContext {
  const listed = target.supportedParameters;
  const nameOf = (path: string): string =>
    (request.format === 'messages' ? NAMES_IN_MESSAGES.get(path) : undefined) ?? path;
  return {
    request,
    target,
    facts: target.dialect.converse ?? {},
    supports: (parameter) => listed === undefined || supportsParameter(listed, parameter),
    warnings: { list: warnings.list, add: (code, path, message) => warnings.add(code, nameOf(path), message) },
    hiddenCallIds: findGatewayCalls(request),
    documentNames: new Set(),
  };
}

/** Ids of calls whose results came from the gateway's own sandboxes. @source generation.md 5.12 */
function findGatewayCalls({ turns }: GenerationRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const turn of turns)
    for (const block of turn.blocks)
      if (block.type === 'opaque' && GATEWAY_RESULTS.has(stringOf(block.value['type']) ?? ''))
        ids.add(stringOf(block.value['tool_use_id']) ?? '');
  return ids;
}

/** A block as it will be sent, before it is settled which cache points are. */
export interface Piece {
  readonly wire: WireObject;
  /** In the words of the caller's request. */
  readonly path: string;
  readonly cache?: CacheMark | undefined;
}

/** A message that is being put together. */
export interface Message {
  readonly role: 'user' | 'assistant';
  readonly pieces: readonly Piece[];
}

export function isToolUse({ wire }: Piece): boolean {
  return wire['toolUse'] !== undefined;
}

export function isToolResult({ wire }: Piece): boolean {
  return wire['toolResult'] !== undefined;
}
