import type { ToolResultBlock } from '../../canonical/blocks.ts';
import type { JsonObject } from '../../lib/json.ts';
import { pathsOfContent } from '../caller-paths.ts';
import type { SentCall } from './encode-assistant.ts';
import { encodeContent, joinParts, type ContentPart } from './encode-content.ts';
import type { EncodeContext } from './encode-context.ts';
import type { PlacedTurn } from '../place-turns.ts';
import { toolNameOf } from './tool-name.ts';

const MISSING_RESULT = 'Error: this call was not answered';
const RESULT_FOLLOWS = 'The result is in the user message that follows.';
/** "content should be formatted as a JSON object string": types of the vendor's SDK (2026-08). Empty text is refused. */
const NOTHING = '{}';

interface PlacedResult {
  readonly block: ToolResultBlock;
  readonly path: string;
}

export interface EncodedResults {
  readonly messages: readonly JsonObject[];
  /** Pictures, which a tool message cannot hold, each group with a line that tells whose they are. */
  readonly media: readonly ContentPart[];
}

/** One message for each call, in order, whatever the caller's history gives. @source pains.md 21 */
export function encodeResults(
  run: readonly PlacedTurn[],
  calls: readonly SentCall[],
  context: EncodeContext,
): EncodedResults {
  const results = collectResults(run, calls, context);
  const messages: JsonObject[] = [];
  const media: ContentPart[] = [];
  for (const { block, id } of calls) {
    // Of calls that share an id each takes one result; the last result of an id counts for its last call.
    const placed = results.get(block.id)?.shift();
    if (placed === undefined) {
      const path = run[0]?.path ?? 'messages';
      context.warnings.add('field-changed', path, `the call ${block.id.slice(0, 80)} has no result: it gets an error`);
      messages.push({ role: 'tool', tool_call_id: id, content: MISSING_RESULT });
      continue;
    }
    const { texts, pictures } = splitResult(placed, context);
    if (pictures.length > 0)
      media.push({ type: 'text', text: `Files of the result of ${toolNameOf(block.name)} (${id}):` }, ...pictures);
    const content = texts.length > 0 ? joinParts(texts) : pictures.length > 0 ? RESULT_FOLLOWS : NOTHING;
    messages.push({ role: 'tool', tool_call_id: id, content });
  }
  return { messages, media };
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

function splitResult(
  { block, path }: PlacedResult,
  context: EncodeContext,
): { readonly texts: readonly ContentPart[]; readonly pictures: readonly ContentPart[] } {
  const paths = pathsOfContent(block.content, block.plain, `${path}.content`);
  const placed = block.content.map((inner, at) => ({ block: inner, path: paths[at] ?? path }));
  const parts = encodeContent(placed, undefined, context);
  const texts = parts.filter((part) => part['type'] === 'text');
  const pictures = parts.filter((part) => part['type'] !== 'text');
  return { texts: block.failed === true ? sayFailed(texts) : texts, pictures };
}

function sayFailed(texts: readonly ContentPart[]): readonly ContentPart[] {
  const [first, ...others] = texts;
  return [
    { type: 'text', text: `Error: ${typeof first?.['text'] === 'string' ? first['text'] : ''}`.trim() },
    ...others,
  ];
}
