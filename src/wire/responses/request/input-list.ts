import { invalid } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { holdsMoreValues, VALUES_MAX } from '../../../lib/json/bounds.ts';
import { textOf } from '../../json-fields.ts';
import { COMPACTION_TRIGGER } from '../../compaction-request.ts';
import type { DecodeContext } from '../../format.ts';
import { newItemId } from '../item-ids.ts';
import { invalidPrompt, isAbsent, requireText } from './read-fields.ts';
import type { ToolEntry } from './tools-in.ts';

/** Of one request, with those that it continues: agents send some thousands at the most. Each is checked, decoded and encoded without a pause. */
const ITEMS_MAX = 10_000;
const ID_CHARS_MAX = 64;
/** Of items that a vendor encrypted under their id, which therefore stays as it is. */
const SEALED_ID_CHARS_MAX = 1_024;
/** Where items of earlier responses stand, for the caller. */
const HISTORY_PATH = 'previous_response_id';
/** Where an input stands that is one text. */
export const INPUT_PATH = 'input';
const ADVICE = 'to keep nothing here, send "store": false and the full items in place of references';

/** An item of a conversation. */
export interface PlacedItem {
  readonly item: JsonObject;
  readonly type: string;
  /** In the caller's body. */
  readonly path: string;
}

export interface InputList {
  /** Of the whole conversation, without the items that only change settings. */
  readonly items: readonly PlacedItem[];
  /** Of this request, each with an id, as they are kept. */
  readonly own: readonly JsonObject[];
  /** Of the whole conversation in the same way, where the last item asks for a compaction of it. */
  readonly compacts?: readonly JsonObject[];
}

/**
 * The items of a conversation: those of earlier responses, then those of the request, with references resolved.
 * @throws GatewayError 400 where there is none, or one is no item
 */
export function listInput(input: Json | undefined, context: DecodeContext | undefined): InputList {
  const history = (context?.history ?? []).map((item): PlacedItem => place(item, HISTORY_PATH));
  const own = readOwn(input, context, history.length > 0);
  // A body that held it all would be refused as well.
  if (holdsMoreValues(context?.history, VALUES_MAX))
    throw invalidPrompt(HISTORY_PATH, `continues a conversation of more than ${VALUES_MAX} values: begin a new one`);
  const trigger = own.findIndex(({ type }) => type === COMPACTION_TRIGGER);
  if (trigger >= 0 && trigger < own.length - 1)
    throw invalid(`input[${trigger}].type`, 'compaction_trigger must be the last item');
  const items = trigger < 0 ? own : own.slice(0, -1);
  if (trigger >= 0 && history.length + items.length === 0)
    throw invalidPrompt('input', 'has nothing before its compaction_trigger');
  if (items.length > ITEMS_MAX) throw invalidPrompt('input', `must have at most ${ITEMS_MAX} items`);
  if (history.length + items.length > ITEMS_MAX)
    throw invalidPrompt(HISTORY_PATH, `continues a conversation of more than ${ITEMS_MAX} items: begin a new one`);
  const kept = items.map(keep);
  return {
    items: [...history, ...items],
    own: kept,
    ...(trigger >= 0 && { compacts: [...history.map(keep), ...kept] }),
  };
}

/** A text is kept as the part that it stands for. */
function keep({ item, type, path }: PlacedItem): JsonObject {
  const kept = { ...item, type, id: textOf(item['id']) ?? newItemId(type) };
  return path === INPUT_PATH ? { ...kept, content: [{ type: 'input_text', text: item['content'] }] } : kept;
}

function readOwn(
  input: Json | undefined,
  context: DecodeContext | undefined,
  continues: boolean,
): readonly PlacedItem[] {
  const isEmpty = isAbsent(input) || input === '' || (Array.isArray(input) && input.length === 0);
  if (isEmpty && continues) return [];
  if (isEmpty)
    throw invalidPrompt('input', isAbsent(input) ? 'is required: a text or a list of items' : 'must not be empty');
  if (typeof input === 'string') return [place({ role: 'user', content: input }, INPUT_PATH)];
  if (!Array.isArray(input)) throw invalidPrompt('input', 'must be a string or an array of items');
  const list: readonly Json[] = input;
  // One more may ask for a compaction of the others.
  if (list.length > ITEMS_MAX + 1) throw invalidPrompt('input', `must have at most ${ITEMS_MAX} items`);
  const ids = new Set<string>();
  return list.map((value, at) => {
    const path = `input[${at}]`;
    if (!isJsonObject(value)) throw invalidPrompt(path, 'must be an object');
    const item = value['type'] === 'item_reference' ? resolve(value, path, ids, context) : value;
    const id = readId(value, path);
    if (id !== undefined) ids.add(id);
    return place(item, path);
  });
}

/** What is no text is no id, as it never was; clients send null. @throws GatewayError 400 for one that is too long */
function readId(item: JsonObject, path: string): string | undefined {
  const id = textOf(item['id']);
  const max = textOf(item['encrypted_content']) ? SEALED_ID_CHARS_MAX : ID_CHARS_MAX;
  if (id !== undefined && id.length > max) throw invalidPrompt(`${path}.id`, `must have at most ${max} characters`);
  return id;
}

/** @param ids of the items before it in the same list */
function resolve(
  reference: JsonObject,
  path: string,
  ids: ReadonlySet<string>,
  context: DecodeContext | undefined,
): JsonObject {
  const id = requireText(reference, 'id', path);
  if (ids.has(id)) throw invalidPrompt(`${path}.id`, 'is the id of an item in the same list: send it once');
  const item = context?.references?.get(id);
  if (item !== undefined) return item;
  const why = context?.references === undefined ? 'nothing is kept here' : 'no item with this id is kept';
  throw invalidPrompt(`${path}.id`, `${why}; ${ADVICE}`);
}

function place(item: JsonObject, path: string): PlacedItem {
  const { type, role } = item;
  if (isAbsent(type) && !isAbsent(role)) return { item, type: 'message', path };
  if (typeof type === 'string' && type !== '') return { item, type, path };
  throw invalidPrompt(`${path}.type`, 'must be the type of the item, or role must be given');
}

/** The tools that items declare, in their order. @throws GatewayError 400 for a list that is none */
export function listDeclaredTools(items: readonly PlacedItem[]): readonly ToolEntry[] {
  return items.flatMap(({ item, type, path }): readonly ToolEntry[] => {
    if (type !== 'additional_tools' && type !== 'tool_search_output') return [];
    const { tools } = item;
    if (isAbsent(tools)) return [];
    if (!Array.isArray(tools)) throw invalidPrompt(`${path}.tools`, 'must be an array');
    const listed: readonly Json[] = tools;
    return listed.map((value, at) => ({
      value,
      path: `${path}.tools[${at}]`,
      ...(type === 'tool_search_output' && { isFound: true }),
    }));
  });
}

/** Members that the last item of this kind sets in place of those of the body. */
export function configurationIn(items: readonly PlacedItem[]): JsonObject {
  const last = items.findLast(({ type }) => type === 'configuration_update');
  if (last === undefined) return {};
  const { reasoning, text, tool_choice: choice } = last.item;
  return {
    ...(!isAbsent(reasoning) && { reasoning }),
    ...(!isAbsent(text) && { text }),
    ...(!isAbsent(choice) && { tool_choice: choice }),
  };
}
