import type { CacheBreakpoint } from '../../../canonical/blocks.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import { pathOfSetting } from '../../gateway/source/source-paths.ts';
import type { EncodeTarget } from '../../format.ts';
import { serverCallIds } from '../../gateway/server-tool-results.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import type { ConverseFacts } from '../dialect.ts';
import type { WireObject } from '../../json-fields.ts';

/** The context of encoding one request. */
export interface EncodeContext {
  readonly request: GenerationRequest;
  readonly target: EncodeTarget;
  readonly facts: ConverseFacts;
  /** Whether the endpoint takes a parameter of the catalog's vocabulary. @spec route-20 */
  readonly supports: (parameter: string) => boolean;
  readonly warnings: Warnings;
  /** Calls and results of tools that ran at the gateway; no upstream knows them. */
  readonly hiddenCallIds: ReadonlySet<string>;
  /** Names that documents of this request have already. */
  readonly documentNames: Set<string>;
}

/** @param warnings gets what is noted here, with each setting by the name that the caller knows it by */
export function createEncodeContext(
  request: GenerationRequest,
  target: EncodeTarget,
  warnings: Warnings,
): EncodeContext {
  const listed = target.supportedParameters;
  return {
    request,
    target,
    facts: target.dialect.converse ?? {},
    supports: (parameter) => listed === undefined || supportsParameter(listed, parameter),
    warnings: {
      list: warnings.list,
      add: (code, path, message) => warnings.add(code, pathOfSetting(request.format, path), message),
    },
    hiddenCallIds: serverCallIds(request.turns),
    documentNames: new Set(),
  };
}

/** A block as it will be sent, before it is settled which cache points are. */
export interface Piece {
  readonly wire: WireObject;
  /** The path in the caller's request. */
  readonly path: string;
  readonly cache?: CacheBreakpoint | undefined;
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
