import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { callOfItem } from '../caller-tools.ts';
import { joinName, namespacedOf } from '../request/tool-names-in.ts';

/** How a kind of output item is shown as a tool call. */
export interface CallKind {
  /** What the call is named when the item has no name of its own. */
  readonly name?: string;
  /** Where the tool runs. */
  readonly runBy: 'caller' | 'upstream' | ((item: JsonObject) => 'caller' | 'upstream');
  /** The member that holds the input as text, which also comes in deltas. */
  readonly text?: string;
  /** The text is no JSON: it becomes the member of this name in an object. */
  readonly wrap?: string;
  /** The input of an item that has none as text. Read from an item whose numbers stand as written. */
  readonly input?: (item: JsonObject) => JsonObject;
  /** A function stands for the tool: all that a call of the caller's has is its input. */
  readonly isStandIn?: true;
}

/** The items that are calls, and where their tools run. Vendor's SDK, openai 7.55 (2026-11), `ResponseOutputItem`. */
const CALL_KINDS: ReadonlyMap<string, CallKind> = new Map<string, CallKind>([
  ['function_call', { runBy: 'caller', text: 'arguments' }],
  // A call with free text for its input. Callers' formats have JSON only, so the text is shown as `{"input": text}`; the
  // gateway offers no custom tools, and such a call comes back as a call of a function of that name.
  ['custom_tool_call', { runBy: 'caller', text: 'input', wrap: 'input' }],
  // Tools that the caller runs and that have items of their own: a call of the function that stands for each.
  ['local_shell_call', { name: 'local_shell', runBy: 'caller', input: standInInput, isStandIn: true }],
  ['shell_call', { name: 'shell', runBy: shellRunner, input: standInInput, isStandIn: true }],
  ['apply_patch_call', { name: 'apply_patch', runBy: 'caller', input: standInInput, isStandIn: true }],
  ['mcp_call', { runBy: 'upstream', text: 'arguments' }],
  ['code_interpreter_call', { name: 'code_interpreter', runBy: 'upstream', text: 'code', wrap: 'code' }],
  ['web_search_call', { name: 'web_search', runBy: 'upstream', input: searchInput }],
  [
    'file_search_call',
    { name: 'file_search', runBy: 'upstream', input: ({ queries }) => ({ queries: queries ?? [] }) },
  ],
  [
    'tool_search_call',
    { name: 'tool_search', runBy: searchRunner, input: ({ arguments: given }) => objectFrom(given), isStandIn: true },
  ],
  // Tools of xAI that run there: vercel/ai, `XaiResponsesLanguageModel`, 2026-08.
  ['x_search_call', { name: 'x_search', runBy: 'upstream', input: argumentsInput }],
  ['code_execution_call', { name: 'code_execution', runBy: 'upstream', input: argumentsInput }],
  ['view_image_call', { name: 'view_image', runBy: 'upstream', input: argumentsInput }],
  ['view_x_video_call', { name: 'view_x_video', runBy: 'upstream', input: argumentsInput }],
  // Perplexity's names for the same: its OpenAPI document, "OutputItem", read 2026-11.
  ['search_results', { name: 'web_search', runBy: 'upstream', input: ({ queries }) => ({ queries: queries ?? [] }) }],
  ['fetch_url_results', { name: 'web_fetch', runBy: 'upstream', input: fetchInput }],
]);

const CUSTOM_CALL = 'custom_tool_call';

/** `undefined` for an item that is no call. @param runsCustomTools the dialect's fact of that name */
export function callKindOf(type: string, runsCustomTools: boolean): CallKind | undefined {
  const kind = CALL_KINDS.get(type);
  return kind !== undefined && runsCustomTools && type === CUSTOM_CALL ? { ...kind, runBy: 'upstream' } : kind;
}

/** The kinds that come in deltas, by the events that bring them. @spec translate-31 */
export const INPUT_EVENTS: ReadonlyMap<string, { readonly type: string; readonly member: string }> = new Map([
  ['response.function_call_arguments', { type: 'function_call', member: 'arguments' }],
  ['response.custom_tool_call_input', { type: 'custom_tool_call', member: 'input' }],
  ['response.mcp_call_arguments', { type: 'mcp_call', member: 'arguments' }],
  ['response.code_interpreter_call_code', { type: 'code_interpreter_call', member: 'code' }],
]);

/** What was searched for; what was found is no part of the input. xAI puts arguments in place of an action. */
function searchInput({ action, arguments: given }: JsonObject): JsonObject {
  if (!isJsonObject(action)) return objectFrom(given);
  const { sources: _found, ...requested } = action;
  return requested;
}

function argumentsInput({ arguments: given, action }: JsonObject): JsonObject {
  return objectFrom(given ?? action);
}

function fetchInput({ contents }: JsonObject): JsonObject {
  return { urls: objectsOf(contents).flatMap(({ url }) => textOf(url) ?? []) };
}

function searchRunner({ execution }: JsonObject): 'caller' | 'upstream' {
  return execution === 'client' ? 'caller' : 'upstream';
}

/** Commands run at the provider only in a container of its own. */
function shellRunner({ environment }: JsonObject): 'caller' | 'upstream' {
  const type = isJsonObject(environment) ? textOf(environment['type']) : undefined;
  return type === undefined || type === 'local' ? 'caller' : 'upstream';
}

function standInInput(item: JsonObject): JsonObject {
  return parseJsonObject(callOfItem(item)?.input ?? '') ?? {};
}

/** The name of a function: one that stands in a namespace is joined with it. */
export function calledName({ name, namespace }: JsonObject): string | undefined {
  const own = textOf(name);
  const namespaced = own === undefined ? undefined : namespacedOf(textOf(namespace), own);
  return namespaced === undefined ? own : joinName(namespaced);
}

function objectFrom(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
