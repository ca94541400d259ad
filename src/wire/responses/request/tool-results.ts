import type { JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';
import { pathsOfContent } from '../../source-paths.ts';
import type { LocatedBlock, LocatedTurn } from '../../source-positions.ts';
import {
  MISSING_RESULT_ERROR,
  RESULT_FOLLOWS,
  matchToolResults,
  type LocatedResult,
  type SentCall,
} from '../../match-tool-results.ts';
import type { EncodeContext } from './encode-context.ts';
import { withBreakpoint, takesBreakpoints } from './cache-control.ts';
import { encodeParts, simplify, type Content } from './content.ts';

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
  for (const { call, result } of matchToolResults(run, calls, context.warnings)) {
    const { block, id } = call;
    if (result === undefined) {
      items.push(encodeOutputItem(id, MISSING_RESULT_ERROR));
      continue;
    }
    const { output, beside } = encodeOutput(result, context);
    if (beside.length > 0)
      files.push({ type: 'input_text', text: `Files of the result of ${block.name} (${id}):` }, ...beside);
    items.push(encodeOutputItem(id, output));
  }
  return { items, files };
}

function encodeOutputItem(callId: string, output: Content): JsonObject {
  return { type: 'function_call_output', call_id: callId, output };
}

function encodeOutput(
  { block, path }: LocatedResult,
  context: EncodeContext,
): { readonly output: Content; readonly beside: readonly JsonObject[] } {
  const { dialect } = context.target;
  const paths = pathsOfContent(block.content, block.plain, `${path}.content`);
  const placed: readonly LocatedBlock[] = block.content.map((inner, at) => ({ block: inner, path: paths[at] ?? path }));
  const stated = encodeParts(placed, context);
  const parts = block.failed === true ? encodeFailed(stated) : stated;
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
