import type { z } from 'zod';
import type { McpScope } from '../accounts/connections/authorization.ts';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { JsonObject } from '../lib/json.ts';
import type { McpAbilities } from './abilities.ts';

/** A call of a tool, as the caller's key. */
export interface ToolCall {
  readonly principal: Principal;
  readonly abilities: McpAbilities;
  readonly signal: AbortSignal;
}

/** What a tool gives: JSON, which is its text as well, and pictures. */
export interface ToolOutput {
  readonly structured: JsonObject;
  readonly images?: readonly { readonly data: string; readonly mimeType: string }[];
}

interface ToolFacts {
  readonly name: string;
  readonly title: string;
  /** A constant: nothing of a catalog or an operator stands in it. */
  readonly description: string;
  /** It changes nothing and costs nothing. */
  readonly isReadOnly: boolean;
  /** What a connection needs to have been allowed. */
  readonly scope: McpScope;
  /** Absent: always. */
  readonly isThere?: (abilities: McpAbilities) => boolean;
}

/** A tool without type parameters: it checks its input by its schema. */
export interface Tool extends ToolFacts {
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** @throws GatewayError also where the input does not fit its schema */
  run(input: unknown, call: ToolCall): Promise<ToolOutput>;
}

export function defineTool<Input extends z.ZodObject>(
  definition: ToolFacts & {
    readonly input: Input;
    readonly output: z.ZodObject;
    readonly run: (input: z.output<Input>, call: ToolCall) => Promise<ToolOutput>;
  },
): Tool {
  const { run, ...facts } = definition;
  return { ...facts, run: async (input, call) => run(parseInput(definition.input, input), call) };
}

const FAULTS_MAX = 5;

/** @throws GatewayError 400 */
function parseInput<Input extends z.ZodObject>(schema: Input, input: unknown): z.output<Input> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.slice(0, FAULTS_MAX);
  throw new GatewayError(
    'invalid_request',
    faults.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  );
}
