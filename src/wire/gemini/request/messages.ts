import { pathOfConversation } from '../../gateway/source/source-paths.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { isAssistant, locateTurns, nameSpeaker, type LocatedTurn } from '../../gateway/source/source-positions.ts';
import { resolveToolResults } from '../../gateway/tool-results/resolve-tool-results.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeModelTurns, type SentCall } from './assistant-messages.ts';
import { encodeParts, warnOfBlock, type WirePart } from './content.ts';
import { encodeResults, resultsIn } from './tool-results.ts';

/** Members of the body. */
export interface EncodedContents {
  readonly systemInstruction?: JsonObject;
  readonly contents: readonly JsonObject[];
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly WirePart[];
}

/**
 * @param instruction of ours, behind the caller's own, which so stay a prefix that the cache knows
 * @throws GatewayError 400 when a result answers no call, or nothing is left that could be sent
 * @spec translate-2, translate-3
 */
export function encodeContents(instruction: string | undefined, context: EncodeContext): EncodedContents {
  const placed = locateTurns(context.request, context.warnings);
  const first = placed.findIndex(({ turn }) => !isInstruction(turn) || turn.inline === true);
  const leading = first < 0 ? placed.length : first;
  const stated = instructionText(placed.slice(0, leading), context);
  const runs = resolveToolResults(placed.slice(leading), context.request, context.warnings);
  const contents: Content[] = [];
  let owed: readonly WirePart[] = [];
  let calls: readonly SentCall[] = [];
  for (const [at, run] of runs.entries()) {
    if (run[0] !== undefined && isAssistant(run[0])) {
      const model = encodeModelTurns(run, context);
      push(contents, { role: 'model', parts: model.parts }, run, context);
      ({ calls } = model);
      owed = encodeResults(calls, resultsIn([...run, ...(runs[at + 1] ?? [])]), context);
    } else {
      push(contents, { role: 'user', parts: [...owed, ...encodeOthers(run, context)] }, run, context);
      owed = [];
    }
  }
  if (owed.length > 0) contents.push({ role: 'user', parts: owed });
  // Words of ours alone would be answered.
  if (contents.length === 0 && stated === '')
    throw invalid(
      pathOfConversation(context.request.format),
      'contains nothing that can be sent to the provider of the model',
      'invalid_prompt',
    );
  return assemble([stated, instruction ?? ''].filter((text) => text !== '').join('\n\n'), contents, context);
}

function isInstruction({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** The instructions as one text, blank lines between. @spec translate-2 */
function instructionText(turns: readonly LocatedTurn[], context: EncodeContext): string {
  const parts = turns.flatMap((placed) => encodeParts(nameSpeaker(placed), context, warnOfBlock));
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  if (texts.length < parts.length)
    context.warn(
      'content-dropped',
      turns[0]?.path ?? pathOfConversation(context.request.format),
      'instructions can only be text in this format',
    );
  return texts.join('\n\n');
}

/** Everything but results, which stand with their calls; instructions in the middle become user messages. */
function encodeOthers(run: readonly LocatedTurn[], context: EncodeContext): readonly WirePart[] {
  const blocks = run.flatMap(nameSpeaker).filter(({ block }) => block.type !== 'tool-result');
  return encodeParts(blocks, context, warnOfBlock);
}

/** A content without parts is refused; neighbours of one role are one content. */
function push(contents: Content[], content: Content, run: readonly LocatedTurn[], context: EncodeContext): void {
  const { role, parts } = content;
  const last = contents.at(-1);
  if (parts.length === 0) {
    const blocks = run.flatMap((placed) => placed.blocks).filter(({ block }) => block.type !== 'tool-result');
    if (blocks.length > 0)
      context.warn(
        'content-dropped',
        run[0]?.path ?? pathOfConversation(context.request.format),
        'nothing in it can be sent in this format',
      );
  } else if (last?.role === role) {
    contents[contents.length - 1] = { role, parts: [...last.parts, ...parts] };
  } else {
    contents.push(content);
  }
}

/** A prompt of nothing but instructions is legal for callers; this format wants a content, so they become one. */
function assemble(instructions: string, contents: readonly Content[], context: EncodeContext): EncodedContents {
  const encoded = contents.map(({ role, parts }) => ({ role, parts }));
  if (instructions === '') return { contents: encoded };
  const stated: WirePart = { text: instructions };
  const refused = context.facts.refusesSystem === true;
  if (encoded.length > 0 && !refused) return { systemInstruction: { parts: [stated] }, contents: encoded };
  const why = refused ? 'that this model has no place for' : 'without any message';
  context.warn('field-changed', 'messages', `instructions ${why} are sent as the user`);
  const [first, ...others] = encoded;
  if (first?.role === 'user') return { contents: [{ role: 'user', parts: [stated, ...first.parts] }, ...others] };
  return { contents: [{ role: 'user', parts: [stated] }, ...encoded] };
}
