import { pathOfConversation } from '../../gateway/source/source-paths.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { Turn } from '../../../canonical/request.ts';
import { locateTurns, type LocatedBlock, type LocatedTurn, isSystem } from '../../gateway/source/source-positions.ts';
import { refuseOrphanToolResults } from '../../gateway/tool-results/orphan-tool-results.ts';
import { encodeBlocks } from './content.ts';
import { isToolResult, type EncodeContext, type Message, type Piece } from './encode-context.ts';
import { mergeNeighbours, pairToolResults } from './tool-results.ts';
import { textOf } from '../../json-fields.ts';

/** Stands where the format wants a message and the conversation has none; some models refuse text of white space. */
const FILLER = '.';
const SEE_DOCUMENT = 'See the attached document.';

export interface EncodedTurns {
  readonly system: readonly Piece[];
  readonly messages: readonly Message[];
}

/**
 * @throws GatewayError 400 when nothing is left that could be sent, or a result answers no call
 * @spec translate-4
 */
export function encodeTurns(context: EncodeContext): EncodedTurns {
  const placed = locateTurns(context.request, context.warnings);
  refuseOrphanToolResults(context.request);
  const first = placed.findIndex(({ turn }) => !isSystem(turn) || turn.inline === true);
  const leading = first < 0 ? placed.length : first;
  const system = placed.slice(0, leading).flatMap((turn) => onlyText(encodeTurnPieces(turn, context), context));
  const messages = mergeNeighbours(placed.slice(leading).map((turn) => encodeTurn(turn, context)));
  const settled = placeSystem(system, trimPrefill(pairToolResults(messages, context)), context);
  const split = settled.messages.flatMap((message) => splitFromResults(withText(message, context), context));
  return { system: settled.system, messages: withUserFirst(split, context) };
}

function encodeTurnPieces({ turn, blocks }: LocatedTurn, context: EncodeContext): readonly Piece[] {
  const stated = turn.role === 'assistant' ? blocks.filter((placed) => !isMedia(placed, context)) : blocks;
  return encodeBlocks(prefixName(turn, stated), context);
}

function onlyText(pieces: readonly Piece[], { warnings }: EncodeContext): readonly Piece[] {
  return pieces.filter(({ wire, path }) => {
    const isText = wire['text'] !== undefined;
    if (!isText) warnings.add('content-dropped', path, 'instructions can only be text in this format');
    return isText;
  });
}

function encodeTurn(placed: LocatedTurn, context: EncodeContext): Message {
  const { turn, path } = placed;
  const role = turn.role === 'assistant' ? 'assistant' : 'user';
  // Later instructions go into a user message, which may hold media.
  const pieces = encodeTurnPieces(placed, context);
  if (pieces.length === 0 && turn.blocks.length > 0)
    context.warnings.add('content-dropped', path, 'nothing in it can be sent in this format');
  return { role, pieces };
}

/** @source AWS SDK `Message.content`, 3.1162 (2026-11): images and documents only from users */
function isMedia({ block, path }: LocatedBlock, { warnings }: EncodeContext): boolean {
  if (block.type !== 'media') return false;
  warnings.add('content-dropped', path, 'media of an assistant cannot be sent in this format');
  return true;
}

/** The format has no names of participants. @spec chat-6 */
function prefixName({ name, role }: Turn, blocks: readonly LocatedBlock[]): readonly LocatedBlock[] {
  if (name === undefined || role === 'tool') return blocks;
  const at = blocks.findIndex(({ block }) => block.type === 'text');
  return blocks.map((placed, index) => {
    const { block, path } = placed;
    return index === at && block.type === 'text'
      ? { block: { ...block, text: `${name}: ${block.text}` }, path }
      : placed;
  });
}

/** The beginning of a response must not end in white space. @spec translate-10 */
function trimPrefill(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const piece = last?.pieces.at(-1);
  const text = textOf(piece?.wire['text']);
  if (last?.role !== 'assistant' || piece === undefined || text === undefined) return messages;
  const pieces = [...last.pieces.slice(0, -1), { ...piece, wire: { text: text.trimEnd() } }];
  return [...messages.slice(0, -1), { role: 'assistant', pieces }];
}

/** Instructions go to the user where the model has no place for them, or where there is nothing but instructions. */
function placeSystem(
  system: readonly Piece[],
  messages: readonly Message[],
  { facts, warnings }: EncodeContext,
): EncodedTurns {
  const [first] = system;
  if (first === undefined || (messages.length > 0 && facts.refusesSystem !== true)) return { system, messages };
  const why = messages.length === 0 ? 'without any message' : 'that this model has no place for';
  warnings.add('field-changed', first.path, `instructions ${why} are sent as the user`);
  return { system: [], messages: mergeNeighbours([{ role: 'user', pieces: system }, ...messages]) };
}

/** @source AWS SDK `Message.content`, 3.1162 (2026-11): a document needs text beside it */
function withText(message: Message, { warnings }: EncodeContext): Message {
  const document = message.pieces.find(({ wire }) => wire['document'] !== undefined);
  if (document === undefined || message.pieces.some(({ wire }) => wire['text'] !== undefined)) return message;
  const { path } = document;
  warnings.add('field-changed', path, 'a document alone is refused by this format, so a few words go with it');
  const results = message.pieces.filter(isToolResult);
  const others = message.pieces.filter((piece) => !isToolResult(piece));
  return { ...message, pieces: [...results, { path, wire: { text: SEE_DOCUMENT } }, ...others] };
}

/**
 * Some models refuse other content beside results of tools. Two messages of one role would be joined again, so that the
 * assistant message has to stand between them.
 * @source github.com/pydantic/pydantic-ai issue 6081, checked against the service there 2026-07
 */
function splitFromResults(message: Message, { facts, warnings }: EncodeContext): readonly Message[] {
  const allowed: readonly string[] | undefined = facts.besideResults;
  const results = message.pieces.filter(isToolResult);
  const others = message.pieces.filter((piece) => !isToolResult(piece));
  const [first] = others.filter(({ wire }) => Object.keys(wire).some((kind) => allowed?.includes(kind) === false));
  if (results.length === 0 || first === undefined) return [message];
  warnings.add('field-changed', first.path, 'the model takes it only in a message after the results');
  return [
    { role: 'user', pieces: results },
    { role: 'assistant', pieces: [{ path: first.path, wire: { text: FILLER } }] },
    { role: 'user', pieces: others },
  ];
}

/**
 * Models that want the user to begin get a dot of his.
 * @source github.com/pydantic/pydantic-ai `bedrock_supports_leading_assistant_message`, checked there 2026-07
 */
function withUserFirst(messages: readonly Message[], { request, facts, warnings }: EncodeContext): readonly Message[] {
  const [first] = messages;
  if (first === undefined)
    throw invalid(
      pathOfConversation(request.format),
      'contains nothing that can be sent to the provider of the model',
      'invalid_prompt',
    );
  if (first.role === 'user' || facts.leadingAssistant === true) return messages;
  const path = first.pieces[0]?.path ?? 'messages';
  warnings.add('field-changed', path, 'the user must begin a conversation, so a dot was put before it');
  return [{ role: 'user', pieces: [{ path, wire: { text: FILLER } }] }, ...messages];
}
