import type { Block, ReasoningBlock, TextBlock, ToolCallBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import { unreachable } from '../../../lib/assert.ts';
import { pathOfCitations, pathOfResultContent, pathsOfContent } from '../../gateway/source/source-paths.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import { isServerToolResult } from '../../gateway/server-tool-results.ts';
import { parseToolInputObject } from '../../gateway/tool-input.ts';
import type { LocatedBlock } from '../../gateway/source/source-positions.ts';
import { CLAUDE_FAMILY } from '../response/content.ts';
import { encodeCitation } from '../citations.ts';
import { encodeMedia } from './media.ts';
import type { EncodeContext, Piece } from './encode-context.ts';
import { encodeRedacted } from '../redacted-content.ts';
import type { WireObject } from '../../json-fields.ts';

/** A result must not be empty. */
const NO_OUTPUT = '(no output)';
const OUTPUT_FOLLOWS = '(the file follows)';

/** Encodes the blocks of a turn and leaves out those that this format cannot express, each with a warning. */
export function encodeBlocks(blocks: readonly LocatedBlock[], context: EncodeContext): Piece[] {
  return blocks.flatMap(({ block, path }) => encodeBlock(block, path, context));
}

function encodeBlock(block: Block, path: string, context: EncodeContext): readonly Piece[] {
  if (block.type === 'tool-result') return encodeToolResult(block, path, context);
  const wires = encodeOthers(block, path, context);
  // Where a block becomes several, the mark stands after the last.
  return wires.map((wire, at) => ({ wire, path, ...(at === wires.length - 1 && { cache: block.cache }) }));
}

function encodeOthers(
  block: Exclude<Block, ToolResultBlock>,
  path: string,
  context: EncodeContext,
): readonly WireObject[] {
  switch (block.type) {
    case 'text':
      return encodeText(block, path, context);
    case 'refusal':
      return encodeVisible(block.text, path, context);
    case 'media':
      return encodeMedia(block, path, context);
    case 'reasoning':
      return encodeReasoning(block, path, context);
    case 'tool-call':
      return encodeToolCall(block, path, context);
    case 'opaque':
      if (block.plainText !== undefined) return encodeVisible(block.plainText, path, context);
      if (!isServerToolResult(block))
        context.warnings.add('content-dropped', path, `a ${block.format} block cannot be sent in this format`);
      return [];
    default:
      return unreachable(block);
  }
}

/** Text without a visible character is refused (@spec translate-9). */
function encodeVisible(text: string, path: string, { warnings }: EncodeContext): readonly WireObject[] {
  if (text.trim() !== '') return [{ text }];
  warnings.add('content-dropped', path, 'text without a visible character is refused by this format');
  return [];
}

function encodeText(block: TextBlock, path: string, context: EncodeContext): readonly WireObject[] {
  const encoded = encodeVisible(block.text, path, context);
  const { citations } = block;
  if (encoded.length === 0 || citations === undefined || citations.length === 0) return encoded;
  const sources = context.facts.claude === true ? citations.map(encodeCitation) : [];
  const kept = sources.filter((source) => source !== undefined);
  if (kept.length < citations.length)
    context.warnings.add(
      'content-dropped',
      pathOfCitations(context.request.format, path),
      'sources that this model did not give are not sent to it',
    );
  return kept.length === 0 ? encoded : [{ citationsContent: { content: encoded, citations: kept } }];
}

/**
 * A vendor verifies signatures: only signed blocks of its own family, unedited, may go there. Unsigned ones are refused
 * even by the models that wrote them.
 * @spec reasoning-16; github.com/can1357/oh-my-pi pull request 9086, read 2026-11 (Nova)
 */
function encodeReasoning(
  block: ReasoningBlock,
  path: string,
  { facts, warnings }: EncodeContext,
): readonly WireObject[] {
  const { form, text, signature = '', family = CLAUDE_FAMILY } = block;
  if (facts.claude === true && family === CLAUDE_FAMILY) {
    if (form === 'encrypted') return [{ reasoningContent: { redactedContent: encodeRedacted(text) } }];
    if (form === 'text' && signature !== '') return [{ reasoningContent: { reasoningText: { text, signature } } }];
  }
  warnings.add('content-dropped', path, 'reasoning that is unsigned or of another model cannot be sent back');
  return [];
}

function encodeToolCall(block: ToolCallBlock, path: string, context: EncodeContext): readonly WireObject[] {
  if (context.hiddenCallIds.has(block.id)) return [];
  if (block.runBy === 'upstream') {
    context.warnings.add('content-dropped', path, 'a tool that a provider ran cannot be sent in this format');
    return [];
  }
  const { id, name, input } = block;
  return [{ toolUse: { toolUseId: id, name: legalToolName(name), input: parseToolInputObject(input) } }];
}

/** The result, and after it the files that the model does not read inside of it. */
function encodeToolResult(block: ToolResultBlock, path: string, context: EncodeContext): readonly Piece[] {
  if (context.hiddenCallIds.has(block.callId)) return [];
  const { facts, warnings } = context;
  const readable: ReadonlySet<string> = new Set(['text', ...(facts.mediaInResults ?? ['image'])]);
  const encoded = encodeResultContent(block, pathOfResultContent(context.request.format, path), context);
  const inside = encoded.filter(({ wire }) => readable.has(kindOf(wire))).map(({ wire }) => wire);
  const after = encoded.filter(({ wire }) => !readable.has(kindOf(wire)));
  if (block.failed === true && facts.refusesResultStatus === true)
    warnings.add('field-dropped', `${path}.is_error`, 'the model takes no status of a result');
  const empty = { text: after.length > 0 ? OUTPUT_FOLLOWS : NO_OUTPUT };
  const toolResult = {
    toolUseId: block.callId,
    content: inside.length > 0 ? inside : [empty],
    ...(block.failed === true && facts.refusesResultStatus !== true && { status: 'error' }),
  };
  // Breakpoints inside a result cannot be expressed, so the last of them moves behind it.
  const cache = block.cache ?? encoded.findLast((piece) => piece.cache !== undefined)?.cache;
  return [
    { wire: { toolResult }, path, ...(after.length === 0 && { cache }) },
    ...after.map(({ wire }, at) => ({ wire, path, ...(at === after.length - 1 && { cache }) })),
  ];
}

function encodeResultContent(block: ToolResultBlock, path: string, context: EncodeContext): readonly Piece[] {
  const { content, plain } = block;
  const [first] = content;
  // No output at all is no loss worth a warning.
  if (content.length === 1 && first?.type === 'text' && first.text.trim() === '') return [];
  const paths = pathsOfContent(content, plain, path);
  return content.flatMap((part, at) => encodeBlock(part, paths[at] ?? path, context));
}

/** The one member that holds the content of a block, and names its type. */
function kindOf(wire: WireObject): string {
  const [kind = ''] = Object.keys(wire);
  return kind;
}
