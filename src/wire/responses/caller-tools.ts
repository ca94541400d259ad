import type { CallerToolKind } from '../../canonical/blocks.ts';
import type { FunctionTool } from '../../canonical/request.ts';
import { unreachable } from '../../lib/assert.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import { objectAt, objectOf, textOf } from '../json-fields.ts';
import { unwrapCustomInput, wrapCustomInput } from '../gateway/custom-tools/custom-input.ts';
import { describeCustomTool, type ToolFunction } from '../gateway/custom-tools/custom-tools.ts';

/** A call of a tool that its caller runs, as functions are called. */
export interface CallerCall {
  readonly kind: CallerToolKind;
  readonly name: string;
  /** The arguments of the function that stands for the tool, as JSON text. */
  readonly input: string;
}

/** Kinds that a caller declares without a name: the function has the name of the kind. */
export type NamelessKind = Exclude<CallerToolKind, 'custom'>;

const COMMAND_LIMITS = {
  timeout_ms: { type: 'integer', description: 'Milliseconds after which the command is stopped.' },
} as const;

/** What the model sees of a tool that has no name of its own. The texts are a cached prefix: they never vary. */
const NAMELESS: Readonly<Record<NamelessKind, Pick<FunctionTool, 'description' | 'parameters'>>> = {
  local_shell: {
    description: "Runs a command on the user's machine and returns its output.",
    parameters: objectSchema(
      {
        command: {
          type: 'array',
          items: { type: 'string' },
          description: 'The program and its arguments, for example ["ls", "-l"].',
        },
        workdir: { type: 'string', description: 'The directory to run the command in.' },
        ...COMMAND_LIMITS,
        env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables.' },
      },
      ['command'],
    ),
  },
  shell: {
    description: "Runs shell commands on the user's machine, each in a shell of its own, and returns their output.",
    parameters: objectSchema(
      {
        commands: { type: 'array', items: { type: 'string' }, description: 'The command lines.' },
        ...COMMAND_LIMITS,
        max_output_length: { type: 'integer', description: 'Characters of output to return of each command.' },
      },
      ['commands'],
    ),
  },
  apply_patch: {
    description: [
      'Creates, updates or deletes one file.',
      'To create a file, `diff` holds its whole text, each line with "+" before it.',
      'To update a file, `diff` holds one section for each change. A section begins with a line "@@", which may name the',
      'function or class that the change is in; then come lines of the file, each with one character before it: " " for a',
      'line that stays, "-" for a line that goes, "+" for a line that is new. Give three lines of context on each side.',
      'To delete a file, leave `diff` out.',
    ].join('\n'),
    parameters: objectSchema(
      {
        operation_type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { type: 'string', description: 'The path of the file, relative to the working directory.' },
        diff: { type: 'string' },
      },
      ['operation_type', 'path'],
    ),
  },
  tool_search: {
    description: 'Searches for tools that are not listed here. Tools that are found can be called afterwards.',
    parameters: objectSchema({ query: { type: 'string', description: 'What the tool should do.' } }, ['query']),
  },
};

function objectSchema(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

export function isNamelessKind(type: string): type is NamelessKind {
  return Object.hasOwn(NAMELESS, type);
}

/**
 * The function that stands for a tool where only functions are known.
 * @param declared the caller's entry of `tools`
 * @returns `isCut`: the model gets only the beginning of its grammar
 */
export function functionFor(kind: CallerToolKind, declared: JsonObject): ToolFunction {
  if (kind === 'custom') return describeCustomTool(declared);
  const own = NAMELESS[kind];
  if (kind !== 'tool_search') return { ...own, isCut: false };
  const description = textOf(declared['description']) ?? own.description;
  const parameters = objectOf(declared['parameters']) ?? own.parameters;
  return { ...(description !== undefined && { description }), ...(parameters && { parameters }), isCut: false };
}

/**
 * The item of a call, without `id` and `status`, which belong to the response. @param call its `name` as the item is to
 * have it @returns `undefined` where the arguments have not the shape that the item needs
 */
export function callItemOf(
  kind: CallerToolKind,
  { callId, name, input }: { readonly callId: string; readonly name: string; readonly input: string },
): JsonObject | undefined {
  if (kind === 'custom') return { type: 'custom_tool_call', call_id: callId, name, input: unwrapCustomInput(input) };
  const given = input === '' ? {} : parseJson(input);
  if (!isJsonObject(given)) return undefined;
  const members = encodeMembers(kind, given);
  return members && { type: `${kind}_call`, call_id: callId, ...members };
}

function encodeMembers(kind: NamelessKind, given: JsonObject): JsonObject | undefined {
  switch (kind) {
    case 'local_shell': {
      const { command, workdir, timeout_ms: timeout, env } = given;
      if (!isTextList(command) || !isOptionalText(workdir) || !isOptionalNumber(timeout)) return undefined;
      if (!isAbsent(env) && !(isJsonObject(env) && Object.values(env).every((value) => typeof value === 'string')))
        return undefined;
      const limits = { env: env ?? {}, timeout_ms: timeout ?? null, working_directory: workdir ?? null, user: null };
      return { action: { type: 'exec', command, ...limits } };
    }
    case 'shell': {
      const { commands, timeout_ms: timeout, max_output_length: length } = given;
      if (!isTextList(commands) || !isOptionalNumber(timeout) || !isOptionalNumber(length)) return undefined;
      const action = { commands, timeout_ms: timeout ?? null, max_output_length: length ?? null };
      return { action, environment: null };
    }
    case 'apply_patch': {
      const { operation_type: type, path, diff } = given;
      if (typeof path !== 'string' || !isOptionalText(diff)) return undefined;
      if (type === 'delete_file') return { operation: { type, path } };
      if ((type !== 'create_file' && type !== 'update_file') || isAbsent(diff)) return undefined;
      return { operation: { type, path, diff } };
    }
    case 'tool_search':
      return { execution: 'client', arguments: given };
    default:
      return unreachable(kind);
  }
}

/** A call that its caller runs, of an item of a history or of a response; `undefined` for any other item. */
export function callOfItem(item: JsonObject): CallerCall | undefined {
  switch (textOf(item['type']) ?? '') {
    case 'custom_tool_call': {
      const name = textOf(item['name']);
      const input = textOf(item['input']) ?? '';
      return name === undefined ? undefined : { kind: 'custom', name, input: wrapCustomInput(input) };
    }
    case 'local_shell_call': {
      const { command, working_directory: workdir, timeout_ms, env } = objectAt(item, 'action');
      const variables = isJsonObject(env) && Object.keys(env).length > 0 ? env : undefined;
      return asCall('local_shell', { command: command ?? [], workdir, timeout_ms, env: variables });
    }
    case 'shell_call': {
      const { commands, timeout_ms, max_output_length } = objectAt(item, 'action');
      return asCall('shell', { commands: commands ?? [], timeout_ms, max_output_length });
    }
    case 'apply_patch_call': {
      const { type, path, diff } = objectAt(item, 'operation');
      return asCall('apply_patch', { operation_type: type, path, diff });
    }
    case 'tool_search_call': {
      const { execution, call_id: callId, arguments: given } = item;
      const isClients = execution === 'client' || (isAbsent(execution) && typeof callId === 'string');
      if (!isClients) return undefined;
      const input = typeof given === 'string' ? given : JSON.stringify(given ?? {});
      return { kind: 'tool_search', name: 'tool_search', input };
    }
    default:
      return undefined;
  }
}

/** Null members of an item are absent members. */
function asCall(kind: NamelessKind, given: Readonly<Record<string, Json | undefined>>): CallerCall {
  const members = Object.entries(given).filter(([, value]) => !isAbsent(value));
  return { kind, name: kind, input: JSON.stringify(Object.fromEntries(members)) };
}

/** What a model reads of the result of such a call, for results that are no text or parts as those of functions are. */
export function resultText(item: JsonObject): { readonly text: string; readonly failed: boolean } {
  const output = item['type'] === 'tool_search_output' ? { tools: item['tools'] ?? [] } : item['output'];
  const text = typeof output === 'string' ? output : isAbsent(output) ? '' : JSON.stringify(output);
  return { text, failed: item['type'] === 'apply_patch_call_output' && item['status'] === 'failed' };
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function isTextList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function isOptionalText(value: Json | undefined): boolean {
  return isAbsent(value) || typeof value === 'string';
}

function isOptionalNumber(value: Json | undefined): boolean {
  return isAbsent(value) || typeof value === 'number';
}
