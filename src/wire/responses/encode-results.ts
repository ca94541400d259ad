import type { ToolResultBlock } from '../../canonical/blocks.ts';
import type { JsonObject } from '../../lib/json.ts';
import { textOf } from '../members.ts';
import { pathsOfContent } from '../caller-paths.ts';
import type { PlacedBlock, PlacedTurn } from '../place-turns.ts';
import type { SentCall } from './encode-assistant.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeParts, markPart, simplify, takesBreakpoints, type Content } from './input-parts.ts';

const MISSING_RESULT = 'Error: this call was not answered';
const RESULT_FOLLOWS = 'The result is in the user message that follows.';

interface PlacedResult {
  readonly block: ToolResultBlock;
  readonly path: string;
}

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
  const results = collectResults(run, calls, context);
  const items: JsonObject[] = [];
  const files: JsonObject[] = [];
  for (const { block, id } of calls) {
    // Of calls that share an id each takes one result; the last result of an id counts for its last call.
    const placed = results.get(block.id)?.shift();
    if (placed === undefined) {
      const path = run[0]?.path ?? 'messages';
      context.warnings.add('field-changed', path, `the call ${block.id.slice(0, 80)} has no result: it gets an error`);
      items.push(drawOutput(id, MISSING_RESULT));
      continue;
    }
    const { output, beside } = encodeOutput(placed, context);
    if (beside.length > 0)
      files.push({ type: 'input_text', text: `Files of the result of ${block.name} (${id}):` }, ...beside);
    items.push(drawOutput(id, output));
  }
  return { items, files };
}

function drawOutput(callId: string, output: Content): JsonObject {
  return { type: 'function_call_output', call_id: callId, output };
}

/** As many results for each id as it has calls: of more the last count, and one of a call that is not sent is left out. */
function collectResults(
  run: readonly PlacedTurn[],
  calls: readonly SentCall[],
  { warnings }: EncodeContext,
): ReadonlyMap<string, PlacedResult[]> {
  const results = new Map<string, PlacedResult[]>();
  const wanted = new Map<string, number>();
  for (const { block } of calls) wanted.set(block.id, (wanted.get(block.id) ?? 0) + 1);
  for (const { block, path } of run.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'tool-result') continue;
    const count = wanted.get(block.callId);
    if (count === undefined) {
      warnings.add('content-dropped', path, 'the result of a call that is not sent');
      continue;
    }
    const same = results.get(block.callId) ?? [];
    results.set(block.callId, same);
    same.push({ block, path });
    const dropped = same.length > count ? same.shift() : undefined;
    if (dropped !== undefined)
      warnings.add('content-dropped', dropped.path, 'a later result of the same call was sent');
  }
  return results;
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
