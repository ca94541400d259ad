import { pathOfConversation } from '../../gateway/source/source-paths.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { encodeAssistant, type PlansIn } from './assistant-messages.ts';
import type { SentCall } from '../../gateway/tool-results/match-tool-results.ts';
import { encodeContent, joinParts, type CitedDocuments, type ContentPart } from './content.ts';
import { encodeResults } from './tool-results.ts';
import type { EncodeContext } from './encode-context.ts';
import { isAssistant, locateTurns, type LocatedTurn, isSystem } from '../../gateway/source/source-positions.ts';
import { resolveToolResults } from '../../gateway/tool-results/resolve-tool-results.ts';
import { refuseMediaInInstructions } from '../../unsupported-media.ts';

export interface MessageOptions {
  readonly plansIn: PlansIn;
  /** Sentences of ours for the system prompt. */
  readonly instructions: readonly string[];
  /** Takes the documents that are to be cited; absent: none can be. */
  readonly documents: CitedDocuments | undefined;
}

/**
 * Roles may stand in any order here, several of one kind in a row (SillyTavern#2916, 2024-09), so that turns stay as they
 * are, but for the results of calls, which follow their calls.
 * @throws GatewayError 400 for a result that answers no call, or when nothing is left that could be sent
 */
export function encodeMessages(options: MessageOptions, context: EncodeContext): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  const used = new Set<string>();
  let calls: readonly SentCall[] = [];
  const placed = locateTurns(context.request, context.warnings);
  for (const run of resolveToolResults(placed, context.request, context.warnings)) {
    const [first] = run;
    if (first !== undefined && isAssistant(first)) {
      const encoded = encodeAssistant(run, options.plansIn, used, context);
      if (encoded !== undefined) messages.push(encoded.message);
      else warnOfNothing(first, context);
      calls = encoded?.calls ?? [];
    } else {
      messages.push(...encodeRun(run, calls, options, context));
      calls = [];
    }
  }
  // A history that ends with calls has no results yet; the format wants them all the same.
  messages.push(...encodeResults([], calls, context).messages);
  // Words of ours alone would be answered.
  if (messages.length === 0)
    throw invalid(
      pathOfConversation(context.request.format),
      'contains nothing that can be sent to the provider of the model',
      'invalid_prompt',
    );
  return withInstructions(messages, options.instructions);
}

function encodeRun(
  run: readonly LocatedTurn[],
  calls: readonly SentCall[],
  { documents }: MessageOptions,
  context: EncodeContext,
): readonly JsonObject[] {
  const { messages, media } = encodeResults(run, calls, context);
  const others: JsonObject[] = [];
  let waiting = media;
  for (const placed of run) {
    const instructs = isSystem(placed.turn);
    if (instructs) refuseMediaInInstructions(placed.blocks);
    const parts = nameSpeaker(placed, encodeContent(placed.blocks, instructs ? undefined : documents, context));
    if (instructs) {
      const text = textOfSystem(placed, parts, context);
      if (text !== '') others.push({ role: 'system', content: text });
    } else if (waiting.length + parts.length > 0) {
      others.push({ role: 'user', content: joinParts([...waiting, ...parts]) });
      waiting = [];
    } else if (!placed.blocks.some(({ block }) => block.type === 'tool-result')) warnOfNothing(placed, context);
  }
  return [...messages, ...others];
}

function warnOfNothing({ path, blocks }: LocatedTurn, { warnings }: EncodeContext): void {
  if (blocks.length > 0) warnings.add('content-dropped', path, 'nothing in it can be sent in this format');
}

/** The format has no names of participants. @spec chat-6 */
function nameSpeaker({ turn }: LocatedTurn, parts: readonly ContentPart[]): readonly ContentPart[] {
  if (turn.name === undefined || turn.role === 'tool') return parts;
  const at = parts.findIndex((part) => part['type'] === 'text');
  const text = parts[at]?.['text'];
  return typeof text === 'string' ? parts.with(at, { type: 'text', text: `${turn.name}: ${text}` }) : parts;
}

function textOfSystem({ path }: LocatedTurn, parts: readonly ContentPart[], { warnings }: EncodeContext): string {
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  if (texts.length < parts.length)
    warnings.add('content-dropped', path, 'instructions can only be text in this format');
  return texts.join('\n\n');
}

/** After the caller's own instructions, which stay a prefix that a cache knows. */
function withInstructions(messages: readonly JsonObject[], instructions: readonly string[]): readonly JsonObject[] {
  if (instructions.length === 0) return messages;
  const first = messages.findIndex((message) => message['role'] !== 'system');
  const at = first < 0 ? messages.length : first;
  return messages.toSpliced(at, 0, { role: 'system', content: instructions.join('\n\n') });
}
