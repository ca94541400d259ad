import type { MediaBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { pathOfResultContent, pathsOfContent } from '../../gateway/source/source-paths.ts';
import { parseToolInput } from '../../gateway/tool-input.ts';
import { unsupportedMedia } from '../../unsupported-media.ts';
import type { LocatedTurn } from '../../gateway/source/source-positions.ts';
import type { EncodeContext } from './encode-context.ts';
import type { SentCall } from './assistant-messages.ts';
import { spellOut, warnOfBlock, type WirePart } from './content.ts';
import { encodeFile, describeMedia, type WireFile } from './media.ts';
import { MISSING_RESULT } from '../../gateway/tool-results/match-tool-results.ts';

/** ai.google.dev "Function calling", "Multimodal function responses", read 2026-11: what a result itself may hold. */
const RESULT_MEDIA_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
  'text/plain',
]);

/** A result, and where it stood. */
export interface LocatedResult {
  readonly block: ToolResultBlock;
  readonly path: string;
}

/** Those that stand in some turns. */
export function resultsIn(turns: readonly LocatedTurn[]): readonly LocatedResult[] {
  return turns.flatMap(({ blocks }) =>
    blocks.flatMap(({ block, path }) => (block.type === 'tool-result' ? [{ block, path }] : [])),
  );
}

/**
 * The results of calls: one for each, in the order of the calls, then the files that a result cannot hold. Vendors demand
 * as many results as calls; histories often have fewer or more.
 * @spec translate-4, translate-11
 */
export function encodeResults(
  calls: readonly SentCall[],
  given: readonly LocatedResult[],
  context: EncodeContext,
): readonly WirePart[] {
  const results = groupResults(calls, given, context);
  const answers: WirePart[] = [];
  const after: WirePart[] = [];
  for (const call of calls) {
    const result = results.get(call.id)?.shift();
    if (result === undefined) {
      context.warn('field-changed', call.path, 'has no result, so an error was sent for it');
      answers.push({ functionResponse: { ...identify(call), response: { error: MISSING_RESULT } } });
      continue;
    }
    const { answer, files } = encodeResult(call, result, context);
    answers.push(answer);
    if (files.length > 0) after.push({ text: `Files of the result of ${call.name}:` }, ...files);
  }
  return [...answers, ...after];
}

/** By the caller's id, in order; of too many for one id the last count. */
function groupResults(
  calls: readonly SentCall[],
  given: readonly LocatedResult[],
  { warn }: EncodeContext,
): ReadonlyMap<string, LocatedResult[]> {
  const wanted = new Map<string, number>();
  for (const { id } of calls) wanted.set(id, (wanted.get(id) ?? 0) + 1);
  const results = new Map<string, LocatedResult[]>();
  for (const result of given) {
    const { callId } = result.block;
    const count = wanted.get(callId);
    if (count === undefined) {
      warn('content-dropped', result.path, 'the result of a call that is not sent');
      continue;
    }
    const same = results.get(callId) ?? [];
    results.set(callId, same);
    same.push(result);
    const surplus = same.length > count ? same.shift() : undefined;
    if (surplus !== undefined) warn('content-dropped', surplus.path, 'a later result of the same call was sent');
  }
  return results;
}

function identify({ sentId, name }: SentCall): JsonObject {
  return { ...(sentId !== undefined && { id: sentId }), name };
}

interface EncodedResult {
  readonly answer: WirePart;
  /** What follows, because the result itself cannot hold it. */
  readonly files: readonly WirePart[];
}

function encodeResult(call: SentCall, { block, path }: LocatedResult, context: EncodeContext): EncodedResult {
  const texts: string[] = [];
  const inside: WireFile[] = [];
  const files: WirePart[] = [];
  const paths = pathsOfContent(block.content, block.plain, pathOfResultContent(context.request.format, path));
  for (const [at, inner] of block.content.entries()) {
    const here = paths[at] ?? path;
    for (const piece of spellOut(inner)) {
      if (piece.type === 'text') texts.push(piece.text);
      else if (piece.type === 'media') placeFile(piece, here, inside, files, context);
      else warnOfBlock({ block: piece, path: here }, context);
    }
  }
  const text = texts.filter((stated) => stated !== '').join('\n\n');
  const response = encodeResponse(text, block.failed === true, inside.length + files.length > 0);
  const parts = inside.length > 0 ? { parts: inside } : {};
  return { answer: { functionResponse: { ...identify(call), response, ...parts } }, files };
}

function placeFile(
  block: MediaBlock,
  path: string,
  inside: WireFile[],
  files: WirePart[],
  context: EncodeContext,
): void {
  const file = encodeFile(block, path, context);
  if (file === undefined) throw unsupportedMedia(path, describeMedia(block));
  const held = context.facts.resultMedia === true && 'inlineData' in file;
  if (held && RESULT_MEDIA_TYPES.has(file.inlineData.mimeType)) inside.push(file);
  else files.push(file);
}

/** An object as it is, other text as `result`, and what failed as `error`, which the vendor names so itself. */
function encodeResponse(text: string, failed: boolean, hasFiles: boolean): JsonObject {
  if (failed) return { error: text };
  const value = text.trimStart().startsWith('{') ? parseToolInput(text) : undefined;
  if (isJsonObject(value)) return value;
  return { result: text === '' && hasFiles ? 'The result is in the files that come with it.' : text };
}
