import { withoutAttribution } from '../../../canonical/attribution.ts';
import type { Block } from '../../../canonical/blocks.ts';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import { pathOfConversation, pathsOfBlocks, pathsOfTurns } from '../../gateway/source/source-paths.ts';
import { refuseOrphanToolResults } from '../../gateway/tool-results/orphan-tool-results.ts';
import { serverCallIds } from '../../gateway/server-tool-results.ts';
import { encodeBlocks, type EncodeContext } from './content-out.ts';
import type { MessagesDialect } from '../dialect.ts';
import { repairToolResults } from './tool-results.ts';
import { findOrphanServerCalls } from './orphan-server-tools.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';
import type { WireMessage } from './wire-message.ts';
import { isSystem } from '../../gateway/source/source-positions.ts';

export interface EncodedTurns {
  readonly system: string | WireObject[] | undefined;
  readonly messages: readonly WireMessage[];
}

/**
 * @param sourcePaths gets the caller's path of what may yet have to be changed
 * @throws GatewayError 400 when nothing is left that could be sent, or what the conversation rests on cannot be
 * @spec translate-2, translate-4
 */
export function encodeTurns(
  request: GenerationRequest,
  { vendor = false, readsAttribution = false }: MessagesDialect,
  sourcePaths: Map<WireObject, string>,
  warnings: Warnings,
): EncodedTurns {
  const own = request.format === 'messages';
  const hiddenCallIds = serverCallIds(request.turns);
  const orphanCallIds = findOrphanServerCalls(request.turns, vendor).difference(hiddenCallIds);
  const context: EncodeContext = {
    caller: request.format,
    own,
    vendor,
    warnings,
    hiddenCallIds,
    orphanCallIds,
    sourcePaths,
  };
  const paths = pathsOfTurns(request);
  // One that only comes late is moved (repair-tool-results.ts).
  if (!own) refuseOrphanToolResults(request);
  const leading = leadingSystemTurns(request.turns);
  const system = encodeSystem(request.turns.slice(0, leading), paths, readsAttribution, context);
  const groups: WireMessage[][] = [];
  for (const [at, turn] of request.turns.entries()) {
    if (at < leading) continue;
    const message = encodeTurn(turn, paths[at] ?? '', context);
    if (message === undefined) continue;
    // A caller of this format decides itself what stands in one message; results of tools belong together.
    const group = groups.at(-1);
    if (group?.[0]?.role === message.role && (!own || turn.role === 'tool')) group.push(message);
    else groups.push([message]);
  }
  const messages = groups.flatMap(joinMessages);
  if (!own) trimPrefill(messages);
  const repaired = own ? messages : repairToolResults(messages, sourcePaths, warnings);
  return withUserMessage({ system, messages: repaired }, request.format, warnings);
}

function leadingSystemTurns(turns: readonly Turn[]): number {
  const first = turns.findIndex((turn) => !isSystem(turn) || turn.inline === true);
  return first < 0 ? turns.length : first;
}

/** A string where the caller wrote one, so that the same prompt keeps the same bytes; otherwise text blocks. */
function encodeSystem(
  turns: readonly Turn[],
  paths: readonly string[],
  readsAttribution: boolean,
  context: EncodeContext,
): EncodedTurns['system'] {
  const [only] = turns;
  const encoded = turns.flatMap((turn, at) => encodeTurnMessages(turn, paths[at] ?? '', context));
  const [first] = encoded;
  const written = textOf(first?.['text']) ?? '';
  const text = readsAttribution ? written : withoutAttribution(written);
  if (first !== undefined && text !== written) {
    context.warnings.add(
      'content-dropped',
      context.own ? 'system[0]' : (paths[0] ?? pathOfConversation(context.caller)),
      'a line that changes with every request spoils the prompt cache',
    );
    if (text === '') encoded.shift();
    else first['text'] = text;
  }
  if (encoded.length === 0) return undefined;
  const plain = context.own && turns.length === 1 && only?.plain === true && encoded.length === 1;
  return plain ? text : encoded;
}

function encodeTurn(turn: Turn, path: string, context: EncodeContext): WireMessage | undefined {
  const blocks = encodeTurnMessages(turn, path, context);
  const [first] = blocks;
  if (first === undefined) {
    if (turn.blocks.length > 0)
      context.warnings.add('content-dropped', path, 'nothing in it can be sent in this format');
    return undefined;
  }
  const role = turn.role === 'assistant' ? 'assistant' : turn.inline === true && context.own ? 'system' : 'user';
  const text = context.own && turn.plain === true && blocks.length === 1 ? textOf(first['text']) : undefined;
  const message: WireMessage = { role, content: text ?? (context.own ? blocks : resultsFirst(blocks)) };
  addExtra(message, turn.extra);
  return message;
}

function encodeTurnMessages(turn: Turn, path: string, context: EncodeContext): WireObject[] {
  const paths = pathsOfBlocks(context.caller, turn, path);
  const blocks = prefixName(turn);
  const mute = !context.own && turn.role === 'assistant' && blocks.some(({ type }) => type === 'media');
  if (!mute) return encodeBlocks(blocks, paths, context);
  return blocks.flatMap((block, at) => {
    const here = paths[at] ?? path;
    if (block.type !== 'media') return encodeBlocks([block], [here], context);
    context.warnings.add('content-dropped', here, 'media of an assistant cannot be sent in this format');
    return [];
  });
}

/** The format has no names of participants. @spec chat-6 */
function prefixName(turn: Turn): readonly Block[] {
  if (turn.name === undefined || turn.role === 'tool') return turn.blocks;
  const at = turn.blocks.findIndex((block) => block.type === 'text');
  return turn.blocks.map((block, index) =>
    index === at && block.type === 'text' ? { ...block, text: `${turn.name}: ${block.text}` } : block,
  );
}

/** The vendor wants the results of tools before anything else in the message that follows the calls. */
function resultsFirst(blocks: WireObject[]): WireObject[] {
  const firstOther = blocks.findIndex((block) => block['type'] !== 'tool_result');
  const ordered = firstOther < 0 || !blocks.some((block, at) => at > firstOther && block['type'] === 'tool_result');
  if (ordered) return blocks;
  return [
    ...blocks.filter((block) => block['type'] === 'tool_result'),
    ...blocks.filter((block) => block['type'] !== 'tool_result'),
  ];
}

/** At once: of 30,000 messages of one role each would be copied for every other. */
function joinMessages(group: readonly WireMessage[]): readonly WireMessage[] {
  const [first] = group;
  if (first === undefined || group.length === 1) return group;
  first.content = resultsFirst(group.flatMap(({ content }) => asBlocks(content)));
  return [first];
}

function asBlocks(content: string | WireObject[]): WireObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The vendor refuses a beginning of its response that ends in white space. @spec translate-10 */
function trimPrefill(messages: WireMessage[]): void {
  const last = messages.at(-1);
  if (last === undefined || last.role !== 'assistant' || typeof last.content === 'string') return;
  const block = last.content.at(-1);
  if (block !== undefined && block['type'] === 'text') block['text'] = (textOf(block['text']) ?? '').trimEnd();
}

/**
 * A prompt of nothing but instructions is legal in chat; this format demands a message, so they become one. Where nothing
 * at all is left, the request is refused: the model would respond to a text of ours.
 */
function withUserMessage(turns: EncodedTurns, caller: ClientFormatId, warnings: Warnings): EncodedTurns {
  if (turns.messages.length > 0) return turns;
  const path = pathOfConversation(caller);
  if (caller === 'messages' || turns.system === undefined)
    throw invalid(path, 'contains nothing that can be sent to the provider of the model', 'invalid_prompt');
  warnings.add('field-changed', path, 'instructions without any message are sent as the user');
  return { system: undefined, messages: [{ role: 'user', content: asBlocks(turns.system) }] };
}
