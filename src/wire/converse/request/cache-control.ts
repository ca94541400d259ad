import type { CacheBreakpoint } from '../../../canonical/blocks.ts';
import { isToolResult, isToolUse, type EncodeContext, type Message, type Piece } from './encode-context.ts';
import { objectAt, type WireObject } from '../../json-fields.ts';

/** @source docs.aws.amazon.com "Prompt caching for faster model inference", read 2026-11; @spec prompt-cache-2 */
const CACHE_POINTS_MAX = 4;

/** Parts of a body in the order of the prompt, in which the provider caches. */
export interface PromptParts {
  readonly tools: readonly Piece[];
  readonly system: readonly Piece[];
  readonly messages: readonly Message[];
}

export interface FormattedParts {
  readonly tools: readonly WireObject[];
  readonly system: readonly WireObject[];
  readonly messages: readonly WireObject[];
}

/** A cache point, and the list and the piece that it stands behind. */
interface Point {
  readonly list: readonly Piece[];
  readonly after: Piece;
  readonly mark: CacheBreakpoint;
  readonly path: string;
}

/** The parts with a cache point behind each marked block, as far as the model takes them. @spec prompt-cache-4 */
export function encodeWithCachePoints(parts: PromptParts, context: EncodeContext): FormattedParts {
  const points = new Map<Piece, WireObject>();
  for (const { after, mark, path } of limit(collect(parts, context), context))
    points.set(after, encodePoint(mark, path, context));
  const encode = (pieces: readonly Piece[]): WireObject[] =>
    pieces.flatMap((piece) => {
      const point = points.get(piece);
      return point === undefined ? [piece.wire] : [piece.wire, point];
    });
  return {
    tools: encode(parts.tools),
    system: encode(parts.system),
    messages: parts.messages.map(({ role, pieces }) => ({ role, content: encode(pieces) })),
  };
}

function encodePoint({ kind, ttl }: CacheBreakpoint, path: string, { facts, warnings }: EncodeContext): WireObject {
  const wanted = kind === 'ephemeral' ? ttl : undefined;
  if (wanted === '1h' && facts.cacheTtl !== true)
    warnings.add('field-dropped', `${pathOfMark(path)}.ttl`, 'the model caches for five minutes only');
  return { cachePoint: { type: 'default', ...(wanted !== undefined && facts.cacheTtl === true && { ttl: wanted }) } };
}

/** One point a piece: what is marked later wins. */
function collect(parts: PromptParts, context: EncodeContext): readonly Point[] {
  const { facts, warnings, request } = context;
  const found: Point[] = [];
  // dropped-fields.ts warns of the breakpoints that are lost so, with all other lost fields.
  if (facts.cachePoints === undefined) return found;
  const lists = [parts.tools, parts.system, ...parts.messages.map(({ pieces }) => pieces)];
  for (const list of lists)
    for (const piece of list)
      if (piece.cache !== undefined) found.push({ list, after: piece, mark: piece.cache, path: piece.path });
  const last = parts.messages.findLast(({ role }) => role === 'user')?.pieces;
  const end = last?.at(-1);
  if (request.settings.cache !== undefined && last !== undefined && end !== undefined && end.cache === undefined)
    found.push({ list: last, after: end, mark: request.settings.cache, path: '' });
  const settled = new Map<Piece, Point>();
  for (const point of found) {
    const place = settle(point, point.list === parts.tools, context);
    if (place === undefined && point.mark.isAutomatic === true) continue;
    if (place === undefined)
      warnings.add('field-dropped', pathOfMark(point.path), 'the model takes no cache point there');
    else settled.set(place, { ...point, after: place });
  }
  return [...settled.values()];
}

/**
 * Where the point may stand; `undefined`: nowhere. It may not follow reasoning, nor files that the provider turns into
 * something else on the way, and there must be something before it in its own list.
 * @source github.com/strands-agents/harness-sdk issue 1966 and pull request 3677, github.com/anomalyco/opencode issue
 *   36517, each with the service's own messages; for Nova github.com/langchain-ai/langchain-aws, read 2026-11
 */
function settle({ list, after }: Point, amongTools: boolean, { facts }: EncodeContext): Piece | undefined {
  const besideCalls = amongTools || list.some((piece) => isToolUse(piece) || isToolResult(piece));
  if (besideCalls && facts.cachePoints === 'apart-from-tools') return undefined;
  return list.slice(0, list.indexOf(after) + 1).findLast(({ wire }) => mayPrecede(wire));
}

function mayPrecede(wire: WireObject): boolean {
  if (wire['reasoningContent'] !== undefined || wire['video'] !== undefined) return false;
  return wire['document'] === undefined || objectAt(wire, 'document')['format'] === 'pdf';
}

/** The last ones reach furthest. */
function limit(points: readonly Point[], { warnings }: EncodeContext): readonly Point[] {
  const excess = Math.max(0, points.length - CACHE_POINTS_MAX);
  for (const { path } of points.slice(0, excess))
    warnings.add('field-dropped', pathOfMark(path), `only the last ${CACHE_POINTS_MAX} cache breakpoints are sent`);
  return points.slice(excess);
}

/** The directive of the whole request stands on no block. */
function pathOfMark(path: string): string {
  return path === '' ? 'cache_control' : `${path}.cache_control`;
}
