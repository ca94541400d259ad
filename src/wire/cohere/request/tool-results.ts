import type { JsonObject } from '../../../lib/json.ts';
import { pathOfResultContent, pathsOfContent } from '../../gateway/source/source-paths.ts';
import { encodeContent, joinParts, type ContentPart } from './content.ts';
import type { EncodeContext } from './encode-context.ts';
import type { LocatedTurn } from '../../gateway/source/source-positions.ts';
import {
  MISSING_RESULT_ERROR,
  RESULT_FOLLOWS,
  matchToolResults,
  type LocatedResult,
  type SentCall,
} from '../../gateway/tool-results/match-tool-results.ts';
import { toolNameOf } from './tool-names.ts';

/** "content should be formatted as a JSON object string": types of the vendor's SDK (2026-08). Empty text is refused. */
const NOTHING = '{}';

export interface EncodedResults {
  readonly messages: readonly JsonObject[];
  /** Pictures, which a tool message cannot hold, each group with a line that names its call. */
  readonly media: readonly ContentPart[];
}

/** One message for each call, in order, whatever the caller's history gives. @spec translate-4 */
export function encodeResults(
  run: readonly LocatedTurn[],
  calls: readonly SentCall[],
  context: EncodeContext,
): EncodedResults {
  const messages: JsonObject[] = [];
  const media: ContentPart[] = [];
  for (const { call, result } of matchToolResults(run, calls, context.warnings, context.request.format)) {
    const { block, id } = call;
    if (result === undefined) {
      messages.push({ role: 'tool', tool_call_id: id, content: MISSING_RESULT_ERROR });
      continue;
    }
    const { texts, pictures } = splitResult(result, context);
    if (pictures.length > 0)
      media.push({ type: 'text', text: `Files of the result of ${toolNameOf(block.name)} (${id}):` }, ...pictures);
    const content = texts.length > 0 ? joinParts(texts) : pictures.length > 0 ? RESULT_FOLLOWS : NOTHING;
    messages.push({ role: 'tool', tool_call_id: id, content });
  }
  return { messages, media };
}

function splitResult(
  { block, path }: LocatedResult,
  context: EncodeContext,
): { readonly texts: readonly ContentPart[]; readonly pictures: readonly ContentPart[] } {
  const paths = pathsOfContent(block.content, block.plain, pathOfResultContent(context.request.format, path));
  const placed = block.content.map((inner, at) => ({ block: inner, path: paths[at] ?? path }));
  const parts = encodeContent(placed, undefined, context);
  const texts = parts.filter((part) => part['type'] === 'text');
  const pictures = parts.filter((part) => part['type'] !== 'text');
  return { texts: block.failed === true ? encodeFailed(texts) : texts, pictures };
}

function encodeFailed(texts: readonly ContentPart[]): readonly ContentPart[] {
  const [first, ...others] = texts;
  return [
    { type: 'text', text: `Error: ${typeof first?.['text'] === 'string' ? first['text'] : ''}`.trim() },
    ...others,
  ];
}
