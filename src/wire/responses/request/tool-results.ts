import type { CallerToolKind } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';
import { pathOfResultContent, pathsOfContent } from '../../gateway/source/source-paths.ts';
import type { LocatedBlock, LocatedTurn } from '../../gateway/source/source-positions.ts';
import {
  MISSING_RESULT_ERROR,
  RESULT_FOLLOWS,
  matchToolResults,
  type LocatedResult,
  type SentCall,
} from '../../gateway/tool-results/match-tool-results.ts';
import type { EncodeContext } from './encode-context.ts';
import { withBreakpoint, takesBreakpoints } from './cache-control.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { encodeNativeOutput, nativeKindOf } from './native-calls.ts';
import { encodeParts, simplify, type Content } from './content-out.ts';

export interface EncodedResults {
  readonly items: readonly JsonObject[];
  /** Files of results, for a host that takes only text there, each group with a line that names its call. */
  readonly files: readonly JsonObject[];
}

/** One output for each call, in order, whatever the caller's history gives: the vendor demands it. @spec translate-4 */
export function encodeResults(
  run: readonly LocatedTurn[],
  calls: readonly SentCall[],
  context: EncodeContext,
): EncodedResults {
  const items: JsonObject[] = [];
  const files: JsonObject[] = [];
  for (const { call, result } of matchToolResults(run, calls, context.warnings, context.request.format)) {
    const { block, id } = call;
    const kind = nativeKindOf(block, context.target.dialect);
    if (result === undefined) {
      items.push(encodeOutputItem(kind, id, MISSING_RESULT_ERROR, true));
      continue;
    }
    const { output, beside } = encodeOutput(result, kind === 'apply_patch', context);
    if (beside.length > 0)
      files.push({ type: 'input_text', text: `Files of the result of ${block.name} (${id}):` }, ...beside);
    items.push(
      withExtra(encodeOutputItem(kind, id, output, result.block.failed === true), fieldsOf(result.block, 'responses')),
    );
  }
  return { items, files };
}

function encodeOutputItem(
  kind: CallerToolKind | undefined,
  callId: string,
  output: Content,
  failed: boolean,
): JsonObject {
  if (kind !== undefined) return encodeNativeOutput(kind, callId, output, failed);
  return { type: 'function_call_output', call_id: callId, output };
}

/** @param isPatch the item says by itself that it failed */
function encodeOutput(
  { block, path }: LocatedResult,
  isPatch: boolean,
  context: EncodeContext,
): { readonly output: Content; readonly beside: readonly JsonObject[] } {
  const { dialect } = context.target;
  const paths = pathsOfContent(block.content, block.plain, pathOfResultContent(context.request.format, path));
  const placed: readonly LocatedBlock[] = block.content.map((inner, at) => ({ block: inner, path: paths[at] ?? path }));
  const stated = encodeParts(placed, context);
  const parts = block.failed === true && !isPatch ? encodeFailed(stated) : stated;
  if (dialect.toolOutputParts === true) {
    const marked = block.cache !== undefined && takesBreakpoints(dialect);
    const output = simplify(
      marked ? parts.map((part, at) => (at === parts.length - 1 ? withBreakpoint(part) : part)) : parts,
    );
    return { output: output.length === 0 ? '' : output, beside: [] };
  }
  const texts = parts.flatMap((part) => textOf(part['text']) ?? []);
  const beside = parts.filter((part) => part['type'] !== 'input_text');
  const text = texts.join('\n\n');
  return { output: text === '' && beside.length > 0 ? RESULT_FOLLOWS : text, beside };
}

/** The format has no member for it. */
function encodeFailed(parts: readonly JsonObject[]): readonly JsonObject[] {
  const at = parts.findIndex((part) => part['type'] === 'input_text');
  const part = parts[at];
  if (part === undefined) return [{ type: 'input_text', text: 'Error' }, ...parts];
  return parts.with(at, { ...part, text: `Error: ${textOf(part['text']) ?? ''}`.trimEnd() });
}
