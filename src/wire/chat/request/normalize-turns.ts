import type { Block, MediaBlock, TextBlock, ToolCallBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodePart, describeMedia } from './content.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import { isAssistant, locateTurns, type LocatedTurn } from '../../gateway/source/source-positions.ts';
import { resolveToolResults } from '../../gateway/tool-results/resolve-tool-results.ts';
import { writeOutDocuments } from '../../text-documents.ts';
import { warnOfUnsupportedBlock } from '../../unsupported-blocks.ts';
import { unsupportedMedia } from '../../unsupported-media.ts';
import { RESULT_FOLLOWS } from '../../gateway/tool-results/match-tool-results.ts';

/** A turn as this format has it, and where it came from. */
export interface NormalizedTurn {
  readonly turn: Turn;
  readonly path: string;
}

/**
 * Turns of another format in the order that this one demands: the results of calls in messages of their own, right
 * after the calls and one for each; a single assistant or user message in a row; texts joined where nothing else stands
 * between them. Blocks that the format cannot express are left out with a warning.
 * @throws GatewayError 400 for a file that cannot be sent, and for the result of a call that there was not
 * @spec translate-4, translate-9, prompt-cache-9
 */
export function normalizeTurns(request: GenerationRequest, context: EncodeContext): readonly NormalizedTurn[] {
  const warnings: Pick<Warnings, 'add'> = { add: (...warning) => context.warn(...warning) };
  const normalized: NormalizedTurn[] = [];
  let calls: readonly ToolCallBlock[] = [];
  for (const run of resolveToolResults(locateTurns(request, warnings), request, warnings)) {
    const [first] = run;
    const said = run.length === 1 && calls.length === 0 ? textTurn(first) : undefined;
    if (said !== undefined) normalized.push(said);
    else if (first !== undefined && isAssistant(first)) {
      const turn = joinAssistant(run, context);
      if (turn !== undefined) normalized.push(turn);
      calls = turn?.turn.blocks.filter((block) => block.type === 'tool-call') ?? [];
    } else {
      normalized.push(...pairResults(run, calls, context));
      calls = [];
    }
  }
  normalized.push(...pairResults([], calls, context));
  return normalized;
}

/** A turn that says a text and nothing else, as most of a long conversation do; `undefined` for any other. */
function textTurn(placed: LocatedTurn | undefined): NormalizedTurn | undefined {
  const block = placed?.blocks.length === 1 ? placed.blocks[0]?.block : undefined;
  if (placed === undefined || block?.type !== 'text' || block.text === '') return undefined;
  if (placed.turn.role === 'tool' || block.cache !== undefined || block.citations !== undefined) return undefined;
  const { role } = placed.turn;
  return { path: placed.path, turn: { role, blocks: [{ type: 'text', text: block.text }], plain: true } };
}

/** `undefined` when no block is left that the format can express. */
function joinAssistant(run: readonly LocatedTurn[], context: EncodeContext): NormalizedTurn | undefined {
  const kept: Block[] = [];
  for (const { block, path } of run.flatMap(({ blocks }) => blocks)) {
    if (isAssistantBlock(block)) kept.push(block);
    else if (block.type === 'media') context.warn('content-dropped', path, 'no content part can hold it');
    else warnOfBlock(block, path, context);
    if (block.type === 'tool-call' && lastBreakpoint([block], context) !== undefined)
      context.warn('field-dropped', `${path}.cache_control`, 'a call cannot carry a breakpoint');
  }
  const texts = kept.filter((block): block is TextBlock => block.type === 'text' && block.text !== '');
  const others = kept
    .filter((block) => block.type !== 'text')
    .map((block) => (block.type === 'tool-call' && block.input === '' ? { ...block, input: '{}' } : block));
  // Texts that cite are one text in pieces; others are separate texts.
  const glue = texts.some((text) => text.citations !== undefined) ? '' : '\n\n';
  const text = texts.map((block) => block.text).join(glue);
  const [first] = run;
  if (first === undefined || (text === '' && others.length === 0)) return undefined;
  const citations = texts.flatMap((block) => block.citations ?? []);
  const mark = lastBreakpoint(texts, context);
  const stated: readonly Block[] =
    text === '' ? [] : [{ type: 'text', text, ...(citations.length > 0 && { citations }), ...mark }];
  return {
    path: first.path,
    turn: { role: 'assistant', blocks: [...stated, ...others], ...(mark === undefined && { plain: true }) },
  };
}

/** The breakpoint of what becomes one text, where the upstream has a spelling for it: the last one reaches furthest. */
function lastBreakpoint(blocks: readonly Block[], { target }: EncodeContext): Pick<Block, 'cache'> | undefined {
  const cache = target.dialect.cacheBreakpoints && blocks.findLast((block) => block.cache !== undefined)?.cache;
  return cache && { cache };
}

function isAssistantBlock(block: Block): boolean {
  if (block.type === 'tool-call') return block.runBy === 'caller';
  return block.type === 'text' || block.type === 'refusal' || block.type === 'reasoning';
}

/** What stands between two assistant turns: first the results of the calls, in order, then everything else. */
function pairResults(
  run: readonly LocatedTurn[],
  calls: readonly ToolCallBlock[],
  context: EncodeContext,
): readonly NormalizedTurn[] {
  const results = collectResults(run, calls, context);
  const answers: NormalizedTurn[] = [];
  const moved: Block[] = [];
  for (const call of calls) {
    const result = results.get(call.id);
    const path = result?.path ?? run[0]?.path ?? 'messages';
    if (result === undefined) {
      context.warn('field-changed', path, `the call ${call.id.slice(0, 80)} has no result: it gets one that says so`);
      answers.push({ path, turn: resultTurn(call.id, 'this call was not answered', true) });
      continue;
    }
    const { text, media } = splitResult(result, context);
    const mark = lastBreakpoint([...result.block.content, result.block], context);
    answers.push({ path, turn: resultTurn(call.id, text, result.block.failed === true, mark) });
    if (media.length > 0)
      moved.push({ type: 'text', text: `Files of the result of ${call.name} (${call.id}):` }, ...media);
  }
  return [...answers, ...joinOthers(run, moved, context)];
}

interface LocatedResult {
  readonly block: ToolResultBlock;
  readonly path: string;
}

/** Of several results for one call the last counts; one of a call that is not sent is left out. @spec translate-4 */
function collectResults(
  run: readonly LocatedTurn[],
  calls: readonly ToolCallBlock[],
  context: EncodeContext,
): ReadonlyMap<string, LocatedResult> {
  const results = new Map<string, LocatedResult>();
  const ids = new Set(calls.map((call) => call.id));
  for (const { block, path } of run.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'tool-result') continue;
    if (!ids.has(block.callId)) {
      context.warn('content-dropped', path, 'the result of a call that is not sent');
      continue;
    }
    const earlier = results.get(block.callId);
    if (earlier !== undefined)
      context.warn('content-dropped', earlier.path, 'a later result of the same call was sent');
    results.set(block.callId, { block, path });
  }
  return results;
}

/** A tool message holds text; files that came with it follow in a user message. */
function splitResult(
  { block, path }: LocatedResult,
  context: EncodeContext,
): { readonly text: string; readonly media: readonly Block[] } {
  const content = writeOutDocuments(block.content);
  const texts: string[] = [];
  const media: Block[] = [];
  for (const [index, inner] of content.entries()) {
    if (inner.type === 'text') texts.push(inner.text);
    else if (inner.type === 'media' && isSupported(inner, context)) media.push(nameFile(inner));
    else warnOfBlock(inner, `${path}.content[${index}]`, context);
  }
  const text = texts.filter((part) => part !== '').join('\n\n');
  return { media, text: text === '' && media.length > 0 ? RESULT_FOLLOWS : text };
}

function resultTurn(callId: string, text: string, failed: boolean, mark?: Pick<Block, 'cache'>): Turn {
  const result: ToolResultBlock = {
    type: 'tool-result',
    callId,
    content: [{ type: 'text', text, ...mark }],
    ...(mark === undefined && { plain: true }),
    ...(failed && { failed }),
  };
  return { role: 'tool', blocks: [result] };
}

/** Everything but results: user turns in a row become one message, system turns stand in place. */
function joinOthers(
  run: readonly LocatedTurn[],
  moved: readonly Block[],
  context: EncodeContext,
): readonly NormalizedTurn[] {
  const turns: NormalizedTurn[] = [];
  let user: Block[] = [...moved];
  let userPath = run[0]?.path ?? 'messages';
  const flush = (): void => {
    if (user.length > 0) turns.push({ path: userPath, turn: { role: 'user', ...joinTexts(user, context) } });
    user = [];
  };
  for (const placed of run) {
    const { turn, path } = placed;
    const blocks = supportedBlocks(placed, context);
    if (turn.role === 'system' || turn.role === 'developer') {
      flush();
      if (blocks.length > 0) turns.push({ path, turn: { role: turn.role, ...joinTexts(blocks, context) } });
    } else {
      if (user.length === 0) userPath = path;
      user.push(...blocks);
    }
  }
  flush();
  return turns;
}

function supportedBlocks({ blocks }: LocatedTurn, context: EncodeContext): readonly Block[] {
  const kept: Block[] = [];
  for (const { block, path } of blocks) {
    if (block.type === 'tool-result') continue;
    warnOfContext(block, path, context);
    for (const part of writeOutDocuments([block])) {
      if (!isSupported(part, context)) warnOfBlock(part, path, context);
      else if (part.type !== 'text' || part.text !== '') kept.push(nameFile(part));
    }
  }
  return kept;
}

function isSupported(block: Block, context: EncodeContext): boolean {
  return block.type === 'text' || encodePart(block, context.target.dialect) !== undefined;
}

/** Text alone is one string, which every upstream takes, unless a breakpoint has to stand between two parts. */
function joinTexts(blocks: readonly Block[], { target }: EncodeContext): Pick<Turn, 'blocks' | 'plain'> {
  const marked = target.dialect.cacheBreakpoints !== undefined && blocks.some((block) => block.cache !== undefined);
  if (marked || blocks.some((block) => block.type !== 'text')) return { blocks };
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n\n');
  return { blocks: [{ type: 'text', text }], plain: true };
}

/** Upstreams that take file data demand a name with it. OpenAI API reference, "File inputs", read 2026-11. */
function nameFile<Kept extends Block>(block: Kept): Kept | MediaBlock {
  if (block.type !== 'media' || block.media !== 'document' || block.source.type !== 'base64') return block;
  if (block.name !== undefined) return block;
  const subtype = block.source.mediaType.slice(block.source.mediaType.indexOf('/') + 1);
  return { ...block, name: `document.${subtype === 'plain' ? 'txt' : subtype}` };
}

/** Of a document that is written out it stands in the text. */
function warnOfContext(block: Block, path: string, context: EncodeContext): void {
  const file = block.type === 'media' && block.source.type !== 'text' && block.source.type !== 'blocks';
  if (file && block.context !== undefined)
    context.warn('field-dropped', `${path}.context`, "a file has only a name in the provider's format");
}

/** @throws GatewayError 400 for a file */
function warnOfBlock(block: Block, path: string, context: EncodeContext): void {
  if (block.type === 'media') throw unsupportedMedia(path, describeMedia(block));
  warnOfUnsupportedBlock(block, path, context.warn);
}
