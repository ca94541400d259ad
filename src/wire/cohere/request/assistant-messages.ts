import type { Block, ReasoningBlock } from '../../../canonical/blocks.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { pathOfCitations } from '../../gateway/source/source-paths.ts';
import type { CohereDialect } from '../dialect.ts';
import type { EncodeContext } from './encode-context.ts';
import type { ContentPart } from './content.ts';
import { joinParts } from './content.ts';
import { nameSpeaker, type LocatedBlock, type LocatedTurn } from '../../gateway/source/source-positions.ts';
import { typeOfBlock } from '../../unsupported-blocks.ts';
import type { SentCall } from '../../gateway/tool-results/match-tool-results.ts';
import { toolNameOf } from './tool-names.ts';

export interface EncodedAssistant {
  readonly message: JsonObject;
  readonly calls: readonly SentCall[];
}

/** The content of an assistant turn, in order: each piece is one of the two. */
interface Stated {
  readonly kind: 'text' | 'thinking';
  readonly text: string;
  readonly path: string;
}

/** How reasoning goes back, as far as the model and this request allow. */
export type PlansIn = CohereDialect['plansIn'];

/**
 * Assistant turns in a row as one message; `undefined` when the format can express nothing of them.
 * @param used ids of earlier calls: the format refuses one that comes twice
 */
export function encodeAssistant(
  run: readonly LocatedTurn[],
  plansIn: PlansIn,
  used: Set<string>,
  context: EncodeContext,
): EncodedAssistant | undefined {
  const stated: Stated[] = [];
  const calls: SentCall[] = [];
  for (const placed of run.flatMap(nameSpeaker)) {
    const { block } = placed;
    if (block.type === 'tool-call' && block.runBy === 'caller') calls.push({ block, id: unusedId(block.id, used) });
    else {
      const piece = emitBlock(placed, context);
      if (piece !== undefined) stated.push(piece);
    }
  }
  const words = calls.length > 0 ? encodeBesideCalls(stated, plansIn, context) : encodeAlone(stated, plansIn, context);
  if (words === undefined && calls.length === 0) return undefined;
  const message = {
    role: 'assistant',
    ...words,
    ...(calls.length > 0 && { tool_calls: calls.map(encodeCall) }),
  };
  return { message, calls };
}

function emitBlock({ block, path }: LocatedBlock, { request, warnings }: EncodeContext): Stated | undefined {
  if (block.type === 'text' || block.type === 'refusal') {
    if (block.type === 'text' && block.citations !== undefined && block.citations.length > 0)
      warnings.add(
        'content-dropped',
        pathOfCitations(request.format, path),
        'sources of earlier responses are not sent again',
      );
    return block.text === '' ? undefined : { kind: 'text', text: block.text, path };
  }
  if (block.type === 'reasoning' && isReadable(block)) return { kind: 'thinking', text: block.text, path };
  warnings.add('content-dropped', path, `${nameOfBlock(block)} cannot be sent in this format`);
  return undefined;
}

function nameOfBlock(block: Block): string {
  if (block.type === 'reasoning') return 'reasoning that only its own model can read';
  if (block.type === 'tool-call') return 'a call of a tool that its provider ran';
  return `${block.type === 'media' ? block.type : typeOfBlock(block)} of an assistant`;
}

/** The format takes unsigned readable reasoning. @spec reasoning-16, reasoning-17 */
function isReadable({ form, signature, text }: ReasoningBlock): boolean {
  return form !== 'encrypted' && !signature && text !== '';
}

function encodeAlone(stated: readonly Stated[], plansIn: PlansIn, context: EncodeContext): JsonObject | undefined {
  const parts: ContentPart[] = [];
  for (const { kind, text, path } of stated) {
    if (kind === 'text') parts.push({ type: 'text', text });
    else if (plansIn === 'thinking') parts.push({ type: 'thinking', thinking: text });
    else context.warnings.add('content-dropped', path, 'the model does not take its reasoning back here');
  }
  return parts.length === 0 ? undefined : { content: joinParts(parts) };
}

/**
 * "text content is not allowed when tool_calls are provided. If you wish to pass a tool plan, either pass thinking content
 * (with thinking enabled) or use 'tool_plan'": the vendor's response in vercel/ai#5794 (2025-04). Models that think refuse
 * the plan: crmne/ruby_llm 7c4b14a (2026-08).
 */
function encodeBesideCalls(
  stated: readonly Stated[],
  plansIn: PlansIn,
  context: EncodeContext,
): JsonObject | undefined {
  if (stated.length === 0) return undefined;
  if (plansIn === 'tool_plan') return { tool_plan: stated.map(({ text }) => text).join('\n\n') };
  for (const { kind, path } of stated) {
    if (plansIn === undefined)
      context.warnings.add('content-dropped', path, 'text cannot stand beside tool calls in this format');
    else if (kind === 'text')
      context.warnings.add('field-changed', path, 'sent as thinking, because no text may stand beside tool calls');
  }
  if (plansIn === undefined) return undefined;
  return { content: stated.map(({ text }) => ({ type: 'thinking', thinking: text })) };
}

/** Arguments as they were written; other text than an object goes below `_raw`. @spec translate-5 */
function encodeCall({ block: { name, input }, id }: SentCall): JsonObject {
  const text = input.trim() === '' ? '{}' : input;
  const readable = parseJsonObject(text) === undefined ? JSON.stringify({ _raw: input }) : text;
  return { id, type: 'function', function: { name: toolNameOf(name), arguments: readable } };
}

/** "cannot have duplicate tool ids": docs.cohere.com "Errors", read 2026-11. Some upstreams count from 0 in every response. */
function unusedId(id: string, used: Set<string>): string {
  let unused = id;
  for (let copy = 1; used.has(unused); copy++) unused = `${id}_${copy}`;
  used.add(unused);
  return unused;
}
