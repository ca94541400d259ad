import { pathOfConversation } from '../../gateway/source/source-paths.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { isAssistant, locateTurns, type LocatedTurn } from '../../gateway/source/source-positions.ts';
import { resolveToolResults } from '../../gateway/tool-results/resolve-tool-results.ts';
import { refuseMediaInInstructions } from '../../unsupported-media.ts';
import { createCallIds } from './tool-ids.ts';
import type { SentCall } from '../../gateway/tool-results/match-tool-results.ts';
import { encodeAssistant } from './assistant-messages.ts';
import type { EncodeContext } from './encode-context.ts';
import { takesItem } from './opaque-items.ts';
import { encodeResults } from './tool-results.ts';
import { encodeParts, simplify } from './content-out.ts';

/**
 * The conversation as items. Instructions are items, too, each in its place: `instructions` holds one text without
 * breakpoints, and not every host knows it.
 * @spec translate-2, translate-4
 * @throws GatewayError 400 for a conversation that ends with the assistant, a result that answers no call, or nothing that
 *   could be sent
 */
export function encodeInput(context: EncodeContext): readonly JsonObject[] {
  const callId = createCallIds();
  const items: JsonObject[] = [];
  let calls: readonly SentCall[] = [];
  const runs = resolveToolResults(locateTurns(context.request, context.warnings), context.request, context.warnings);
  for (const run of runs) {
    const [first] = run;
    if (first !== undefined && isAssistant(first)) {
      const encoded = encodeAssistant(run, callId, context);
      items.push(...encoded.items);
      calls = encoded.calls;
    } else {
      items.push(...encodeReplies(run, calls, context));
      calls = [];
    }
  }
  items.push(...encodeResults([], calls, context).items);
  if (items.length === 0)
    throw invalid(
      pathOfConversation(context.request.format),
      'contains nothing that can be sent to the provider of the model',
      'invalid_prompt',
    );
  refusePrefill(items, runs.at(-1)?.at(-1));
  return items;
}

/** @spec chat-7: the upstream begins a new message, so that the caller would not get a continuation. */
function refusePrefill(items: readonly JsonObject[], last: LocatedTurn | undefined): void {
  if (last !== undefined && isAssistant(last) && items.at(-1)?.['role'] === 'assistant')
    throw invalid(last.path, 'must not be of the assistant: the model does not continue its last message');
}

/** What stands between two assistant turns: first the results of the calls, in order, then everything else. */
function encodeReplies(
  run: readonly LocatedTurn[],
  calls: readonly SentCall[],
  context: EncodeContext,
): readonly JsonObject[] {
  const { items, files } = encodeResults(run, calls, context);
  const moved = files.length === 0 ? [] : [encodeMessageItem('user', files)];
  return [...items, ...moved, ...run.flatMap((placed) => encodeMessage(placed, context))];
}

/** A turn without its results. */
function encodeMessage({ turn, path, blocks }: LocatedTurn, context: EncodeContext): readonly JsonObject[] {
  // An item that only the vendor knows stands there itself; a part of a message stands below it.
  const items = blocks.flatMap(({ block, path: at }) =>
    block.type === 'opaque' && at === path && takesItem(block, context.target.dialect) ? [block.value] : [],
  );
  if (items.length > 0) return items;
  const stated = blocks.filter(({ block }) => block.type !== 'tool-result');
  if (stated.length === 0) return [];
  const isInstruction = turn.role === 'system' || turn.role === 'developer';
  if (isInstruction) refuseMediaInInstructions(stated);
  const parts = encodeParts(stated, context);
  const kept = isInstruction ? parts.filter((part) => part['type'] === 'input_text') : parts;
  if (kept.length < parts.length)
    context.warnings.add('content-dropped', path, 'instructions can only be text in this format');
  if (kept.length === 0) return [];
  const role = turn.role === 'developer' && context.target.dialect.developerRole !== true ? 'system' : turn.role;
  return [withExtra(encodeMessageItem(role, emitName(turn.name, kept)), fieldsOf(turn, 'responses'))];
}

function encodeMessageItem(role: string, parts: readonly JsonObject[]): JsonObject {
  return { type: 'message', role, content: simplify(parts) };
}

/** The format has no names of participants. @spec chat-6 */
function emitName(name: string | undefined, parts: readonly JsonObject[]): readonly JsonObject[] {
  if (name === undefined) return parts;
  const at = parts.findIndex((part) => part['type'] === 'input_text');
  const part = parts[at];
  if (part === undefined) return [{ type: 'input_text', text: `${name}:` }, ...parts];
  return parts.with(at, { ...part, text: `${name}: ${textOf(part['text']) ?? ''}` });
}
