import type { z } from 'zod';
import type { McpScope } from '../accounts/connections/authorization.ts';
import type { Principal } from '../accounts/principal.ts';
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

/** A tool without type parameters: the server checks the input by its schema before the tool gets it. */
export interface Tool extends ToolFacts {
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
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
  return { ...facts, run: async (input, call) => run(definition.input.parse(input), call) };
}
