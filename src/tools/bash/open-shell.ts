import { z } from 'zod';
import { containerIdOf, ShellError, type ShellOutput } from '../../canonical/tools/shell.ts';
import type { JsonObject } from '../../lib/json.ts';
import { failedOutcome, type ToolContext, type ToolOutcome } from '../contract.ts';

/** @spec tool-39 */
const SLEEP_S_MAX = 2_592_000;
const COMMANDS_MAX = 100;
/** Longer than the commands of a call may take together. */
export const CALL_MS_MAX = 1_230_000;

const environment = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('container_auto') }),
  z.strictObject({
    type: z.literal('container_reference'),
    container_id: z.string().regex(/^[\w-]{1,20}$/, { error: 'must be 1 to 20 of the characters A-Z a-z 0-9 _ -' }),
  }),
]);
export type ShellEnvironment = z.output<typeof environment>;

/** What the parameters of shells have in common. */
export const shellParameters = {
  environment: environment.nullish(),
  sleep_after_seconds: z.int().min(1).max(SLEEP_S_MAX).nullish(),
};

export const commandList = z.array(z.string()).max(COMMANDS_MAX);
export const commandBounds = {
  timeout_ms: z.int().min(1).optional().describe('Bound on each command, in milliseconds.'),
  max_output_length: z.int().min(1).optional().describe('Bound on each output stream, in characters.'),
};

/** Of one call of a model. */
export interface ShellInput {
  readonly commands: readonly string[];
  readonly restart: boolean;
  readonly timeout_ms?: number | undefined;
  readonly max_output_length?: number | undefined;
}

/** Runs the commands of one call, and formats their outputs. */
export type RunShell = (
  input: ShellInput,
  signal: AbortSignal,
  format: (outputs: readonly ShellOutput[]) => JsonObject,
) => Promise<ToolOutcome>;

/** The container of a request, opened for its calls. */
export function openShell(
  named: ShellEnvironment | null | undefined,
  { principal: owner, request, nowMs, abilities: { shell } }: ToolContext,
): RunShell {
  const containerId = containerIdOf({
    containerId: named?.type === 'container_reference' ? named.container_id : undefined,
    sessionId: request.directives.sessionId,
    promptCacheKey: request.settings.promptCacheKey,
    keyHash: owner.keyHash,
    opening: JSON.stringify(request.turns.find(({ role }) => role === 'user')?.blocks ?? []),
  });
  return async ({ commands, restart, timeout_ms: timeoutMs, max_output_length: outputBytes }, signal, format) => {
    if (shell === undefined) return failedOutcome('This gateway has no sandbox to run commands in.');
    if (commands.length === 0 && !restart) return failedOutcome('Name a command.', 'invalid_tool_input');
    try {
      const startMs = nowMs();
      const outputs = await shell.run({ owner, containerId, commands, restart, timeoutMs, outputBytes, signal });
      const made = (await shell.outputs?.({ owner, containerId }, startMs)) ?? [];
      const files = made.map(({ id, path, bytes }) => ({ id, path, bytes }));
      return { result: { ...format(outputs), ...(files.length > 0 && { files }), container_id: containerId } };
    } catch (error) {
      if (error instanceof ShellError) return failedOutcome(error.message, error.code);
      throw error;
    }
  };
}

const WHY = {
  timeout: 'The command took too long and was ended.',
  output: 'The command wrote too much and was ended.',
  disk: 'The home directory is larger than it may be: remove files, or start another container.',
  aborted: 'The command was ended, because its result is no longer needed.',
} as const satisfies Readonly<Record<NonNullable<ShellOutput['stopped']>, string>>;

/** Why a command was ended, where it did not end by itself. */
export function noteOf({ stopped }: ShellOutput): JsonObject {
  return stopped === undefined ? {} : { stopped, note: WHY[stopped] };
}
