import type { Block, ToolCallBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../../lib/json.ts';
import { asExtra, restOf } from '../../extra.ts';
import { textOf } from '../../json-fields.ts';
import { callOfItem, resultText } from '../caller-tools.ts';
import { decodeContent, type DecodedContent } from './content-in.ts';
import { invalidPrompt, isAbsent, optionalText, requireText, type Warn } from './read-fields.ts';
import type { ToolNames } from './tool-names-in.ts';

const CALL_ID_CHARS_MAX = 256;
/** Outputs that are text or parts, as those of functions are. */
const CONTENT_OUTPUTS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output']);
const OUTPUTS: ReadonlySet<string> = new Set([
  ...CONTENT_OUTPUTS,
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'tool_search_output',
]);
const IDENTITY = ['type', 'id', 'status', 'call_id'] as const;
const CALL_MEMBERS: ReadonlySet<string> = new Set([
  ...IDENTITY,
  'name',
  'namespace',
  'arguments',
  'input',
  'operation',
  'execution',
  'action',
]);
const ACTION_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'command',
  'env',
  'timeout_ms',
  'working_directory',
  'commands',
  'max_output_length',
]);
const OUTPUT_MEMBERS: ReadonlySet<string> = new Set([...IDENTITY, 'output', 'tools', 'execution']);

/** A block of a call or of its result. */
export interface ReadCall {
  readonly block: Block;
}

/** Whether a call of the caller's stands there. */
export function isCallItem(item: JsonObject): boolean {
  return item['type'] === 'function_call' || callOfItem(item) !== undefined || item['type'] === 'custom_tool_call';
}

export function isOutputItem(type: string): boolean {
  return OUTPUTS.has(type);
}

/** Reads calls and their outputs, and knows which calls there were. */
export class CallReader {
  readonly #names: ToolNames;
  readonly #warn: Warn;
  readonly #called = new Set<string>();
  /** Calls that were cut short: nothing was run for them. */
  readonly #dropped = new Set<string>();

  constructor({ names, warn }: { readonly names: ToolNames; readonly warn: Warn }) {
    this.#names = names;
    this.#warn = warn;
  }

  /** `undefined` for a call that was cut short, with a warning. @throws GatewayError 400 */
  readCall(item: JsonObject, type: string, path: string): ReadCall | undefined {
    const id = readCallId(item, path);
    if (this.#called.has(id) || this.#dropped.has(id))
      throw invalidPrompt(`${path}.call_id`, 'is the id of an earlier call');
    const call = type === 'function_call' ? readFunctionCall(item, path) : readCallerCall(item, path);
    if (item['status'] === 'incomplete' && parseJson(call.input) === undefined) {
      this.#warn('content-dropped', path, 'a call that was cut short');
      this.#dropped.add(id);
      return undefined;
    }
    this.#called.add(id);
    const { name, namespaced } = this.#names.resolve(textOf(item['namespace']), call.name);
    const rest = asExtra('responses', restOf(item, CALL_MEMBERS, { action: ACTION_MEMBERS }));
    return {
      block: { type: 'tool-call', id, ...call, name, runBy: 'caller', ...(namespaced && { namespaced }), ...rest },
    };
  }

  /** `undefined` for the output of a call that is left out. @throws GatewayError 400 */
  readOutput(item: JsonObject, path: string): ReadCall | undefined {
    // The tools that a vendor's own search has found are no result of a call that the caller ran.
    if (item['type'] === 'tool_search_output' && isAbsent(item['call_id']))
      return { block: { type: 'opaque', format: 'responses', value: item } };
    const callId = readCallId(item, path);
    if (this.#dropped.has(callId)) {
      this.#warn('content-dropped', path, 'the output of a call that was cut short');
      return undefined;
    }
    if (!this.#called.has(callId)) throw invalidPrompt(`${path}.call_id`, 'is the id of no earlier call');
    return { block: readResult(item, callId, path) };
  }
}

/** The items of a local shell had an id only. */
function readCallId(item: JsonObject, path: string): string {
  const id = optionalText(item, 'call_id', path) ?? textOf(item['id']);
  if (id === undefined) throw invalidPrompt(`${path}.call_id`, 'must be a string');
  if (id === '' || id.length > CALL_ID_CHARS_MAX)
    throw invalidPrompt(`${path}.call_id`, `must have 1 to ${CALL_ID_CHARS_MAX} characters`);
  return id;
}

type Called = Pick<ToolCallBlock, 'name' | 'input' | 'kind'>;

function readFunctionCall(item: JsonObject, path: string): Called {
  const name = requireText(item, 'name', path);
  const given = item['arguments'];
  if (isAbsent(given) || typeof given === 'string') return { name, input: given ?? '' };
  if (isJsonObject(given)) return { name, input: JSON.stringify(given) };
  throw invalidPrompt(`${path}.arguments`, 'must be a string');
}

function readCallerCall(item: JsonObject, path: string): Called {
  if (item['type'] === 'custom_tool_call') {
    requireText(item, 'name', path);
    requireText(item, 'input', path);
  }
  const call = callOfItem(item);
  if (call === undefined) throw invalidPrompt(`${path}.type`, 'must be the type of a call');
  return call;
}

function readResult(item: JsonObject, callId: string, path: string): ToolResultBlock {
  const rest = asExtra('responses', restOf(item, OUTPUT_MEMBERS));
  if (CONTENT_OUTPUTS.has(textOf(item['type']) ?? '')) {
    const { blocks, plain } = readOutputContent(item, path);
    return { type: 'tool-result', callId, content: blocks, ...(plain && { plain }), ...rest };
  }
  const { text, failed } = resultText(item);
  return {
    type: 'tool-result',
    callId,
    content: [{ type: 'text', text }],
    plain: true,
    ...(failed && { failed }),
    ...rest,
  };
}

/** No output is an empty one; what is neither text nor parts counts as its JSON text. */
function readOutputContent({ output }: JsonObject, path: string): Pick<DecodedContent, 'blocks' | 'plain'> {
  if (isAbsent(output)) return decodeContent('', `${path}.output`);
  const isContent = typeof output === 'string' || (Array.isArray(output) && output.every(isPart));
  return decodeContent(isContent ? output : JSON.stringify(output), `${path}.output`);
}

function isPart(value: unknown): boolean {
  return typeof value === 'string' || (isJsonObject(value) && typeof value['type'] === 'string');
}
