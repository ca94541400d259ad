import type { JsonObject } from '../../lib/json.ts';
import { textOf } from '../members.ts';
import { pathsOfContent } from '../caller-paths.ts';
import type { PlacedBlock, PlacedTurn } from '../place-turns.ts';
import { MISSING_RESULT, RESULT_FOLLOWS, resultsByCall, type PlacedResult, type SentCall } from '../results-by-call.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeParts, markPart, simplify, takesBreakpoints, type Content } from './input-parts.ts';

export interface EncodedResults {
  readonly items: readonly JsonObject[];
  /** Files of results, for a host that takes only text there, each group with a line that tells whose they are. */
  readonly files: readonly JsonObject[];
}

/** One output for each call, in order, whatever the caller's history gives: the vendor demands it. pains.md 21 */
export function encodeResults(
  run: readonly PlacedTurn[],
  calls: readonly SentCall[],
  context: EncodeContext,
): EncodedResults {
  const items: JsonObject[] = [];
  const files: JsonObject[] = [];
  for (const { call, result } of resultsByCall(run, calls, context.warnings)) {
    const { block, id } = call;
    if (result === undefined) {
      items.push(drawOutput(id, MISSING_RESULT));
      continue;
    }
    const { output, beside } = encodeOutput(result, context);
    if (beside.length > 0)
      files.push({ type: 'input_text', text: `Files of the result of ${block.name} (${id}):` }, ...beside);
    items.push(drawOutput(id, output));
  }
  return { items, files };
}

function drawOutput(callId: string, output: Content): JsonObject {
  return { type: 'function_call_output', call_id: callId, output };
}

function encodeOutput(
  { block, path }: PlacedResult,
  context: EncodeContext,
): { readonly output: Content; readonly beside: readonly JsonObject[] } {
  const { dialect } = context.target;
  const paths = pathsOfContent(block.content, block.plain, `${path}.content`);
  const placed: readonly PlacedBlock[] = block.content.map((inner, at) => ({ block: inner, path: paths[at] ?? path }));
  const said = encodeParts(placed, context);
  const parts = block.failed === true ? sayFailed(said) : said;
  if (dialect.toolOutputParts === true) {
    const marked = block.cache !== undefined && takesBreakpoints(dialect);
    const output = simplify(
      marked ? parts.map((part, at) => (at === parts.length - 1 ? markPart(part) : part)) : parts,
    );
    return { output: output.length === 0 ? '' : output, beside: [] };
  }
  const texts = parts.flatMap((part) => textOf(part['text']) ?? []);
  const beside = parts.filter((part) => part['type'] !== 'input_text');
  const text = texts.join('\n\n');
  return { output: text === '' && beside.length > 0 ? RESULT_FOLLOWS : text, beside };
}

/** The wire has no member for it. */
function sayFailed(parts: readonly JsonObject[]): readonly JsonObject[] {
  const at = parts.findIndex((part) => part['type'] === 'input_text');
  const part = parts[at];
  if (part === undefined) return [{ type: 'input_text', text: 'Error' }, ...parts];
  return parts.with(at, { ...part, text: `Error: ${textOf(part['text']) ?? ''}`.trimEnd() });
}
