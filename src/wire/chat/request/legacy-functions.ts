import { invalid } from '../../../canonical/gateway-error.ts';
import type { Tool, ToolChoice } from '../../../canonical/request.ts';
import type { ChatAssistantMessage, ChatToolCall } from './message-schema.ts';
import type { ChatRequest } from './request-schema.ts';
import { decodeTools } from './tools.ts';

/** @throws GatewayError 400 for a request that mixes `functions` and `function_call` with what came after them */
export function checkLegacyFunctions({
  functions,
  function_call: call,
  tools,
  tool_choice: choice,
}: ChatRequest): void {
  const declares = functions !== undefined && functions !== null;
  if (declares && tools !== undefined)
    throw invalid('functions', 'cannot stand beside tools, which say the same: send one of functions and tools');
  if (declares && choice !== undefined)
    throw invalid('tool_choice', 'cannot stand beside functions: their choice is function_call');
  if (call !== undefined && call !== null && !declares)
    throw invalid('function_call', 'needs functions: the choice among tools is tool_choice');
}

/** @throws GatewayError 400 when two functions have one name */
export function decodeFunctions(functions: NonNullable<ChatRequest['functions']>): readonly Tool[] {
  return decodeTools(
    functions.map((definition) => ({ type: 'function', function: definition })),
    (index) => `functions[${index}].name`,
  );
}

/** @throws GatewayError 400 when the function is not among them */
export function decodeFunctionChoice(
  call: NonNullable<ChatRequest['function_call']>,
  tools: readonly Tool[],
): ToolChoice | undefined {
  if (typeof call === 'object' && !tools.some((tool) => tool.type === 'function' && tool.name === call.name))
    throw invalid('function_call.name', 'must be the name of one of the functions');
  if (tools.length === 0) return undefined;
  return typeof call === 'string' ? { type: call } : { type: 'function', name: call.name };
}

/** Gives the calls of a conversation that have no ids the same ones whenever it is sent, and each result the id of its call. */
export class LegacyCalls {
  #made = 0;
  /** Ids of the calls of each function, oldest first, and how many of them have a result. */
  readonly #byName = new Map<string, { readonly ids: string[]; answered: number }>();

  /** @throws GatewayError 400 for a message with calls of both kinds */
  callsOf({ tool_calls: calls, function_call: call }: ChatAssistantMessage, path: string): readonly ChatToolCall[] {
    if (call === undefined || call === null) return calls ?? [];
    if (calls !== undefined && calls !== null && calls.length > 0)
      throw invalid(`${path}.function_call`, 'cannot stand beside tool_calls, which say the same');
    this.#made += 1;
    const id = `call_function_${this.#made}`;
    const ofName = this.#byName.get(call.name) ?? { ids: [], answered: 0 };
    ofName.ids.push(id);
    this.#byName.set(call.name, ofName);
    return [{ id, type: 'function', function: call }];
  }

  /**
   * The id of the oldest call of this function that has no result yet.
   * @throws GatewayError 400 when there is none
   */
  answer(name: string, path: string): string {
    const ofName = this.#byName.get(name);
    const id = ofName?.ids[ofName.answered];
    if (ofName === undefined || id === undefined)
      throw invalid(`${path}.name`, 'is the name of no earlier function_call without a result', 'invalid_prompt');
    ofName.answered += 1;
    return id;
  }
}
