import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { containerIdOf, ShellError, type ShellOutput } from '../../canonical/tools/shell.ts';
import { failedOutcome, type OpenTool, type ServerTool, type ToolContext } from '../contract.ts';

/** @spec tool-39 */
const SLEEP_S_MAX = 2_592_000;
const COMMANDS_MAX = 100;
/** Longer than the commands of a call may take together. */
const CALL_MS_MAX = 1_230_000;

const environment = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('container_auto') }),
  z.strictObject({
    type: z.literal('container_reference'),
    container_id: z.string().regex(/^[\w-]{1,20}$/, { error: 'must be 1 to 20 of the characters A-Z a-z 0-9 _ -' }),
  }),
]);

const parameters = z.strictObject({
  engine: z.enum(['auto', 'native', 'service']).nullish(),
  environment: environment.nullish(),
  sleep_after_seconds: z.int().min(1).max(SLEEP_S_MAX).nullish(),
});
type Parameters = z.output<typeof parameters>;

const call = z.object({
  command: z.string().optional().describe('One command line.'),
  commands: z.array(z.string()).max(COMMANDS_MAX).optional().describe('Several command lines, one after the other.'),
  restart: z.boolean().optional().describe('Start the shell anew first.'),
  timeout_ms: z.int().min(1).optional().describe('Bound on each command, in milliseconds.'),
  max_output_length: z.int().min(1).optional().describe('Bound on each output stream, in characters.'),
});

const DESCRIPTION = 'Runs command lines in a bash shell that keeps its state from call to call.';

/** Makes the tool. @param hasSandbox whether the gateway can run commands apart from its machine */
function createBash(hasSandbox: boolean): ServerTool<typeof parameters, typeof call> {
  return {
    type: 'service:bash',
    summary: 'Runs commands in a sandbox of the gateway, or names the bash tool that a caller runs itself.',
    parameters,
    callMsMax: CALL_MS_MAX,
    describe: () => ({ description: DESCRIPTION, arguments: call }),
    clientFunction({ engine }, path) {
      if (engine !== 'service') return { name: 'bash', description: DESCRIPTION, arguments: call };
      if (hasSandbox) return undefined;
      const message = 'must be "auto" or "native": this gateway has no sandbox to run commands in';
      throw new GatewayError('invalid_request', `${path}.engine: ${message}.`, {
        issues: [{ path: `${path}.engine`, message }],
      });
    },
    open: openBash,
  };
}

/**
 * A shell. Without a sandbox commands of a model never run on the machine of the gateway: the caller runs them, and its call
 * is an ordinary one of a function. @spec tool-39
 */
export const bash: ServerTool<typeof parameters, typeof call> = createBash(false);

/** The same where the gateway has a sandbox: `engine: service` runs in it. @spec container-1 */
export const sandboxedBash: ServerTool<typeof parameters, typeof call> = createBash(true);

function openBash(requested: Parameters, context: ToolContext): OpenTool<z.output<typeof call>> {
  const { principal, request, abilities } = context;
  const containerId = containerIdOf({
    containerId: requested.environment?.type === 'container_reference' ? requested.environment.container_id : undefined,
    sessionId: request.directives.sessionId,
    promptCacheKey: request.settings.promptCacheKey,
    keyHash: principal.keyHash,
    opening: JSON.stringify(request.turns.find(({ role }) => role === 'user')?.blocks ?? []),
  });
  return {
    async run({ input, signal }) {
      const { command, commands = command === undefined ? [] : [command], restart = false } = input;
      if (abilities.shell === undefined) return failedOutcome('This gateway has no sandbox to run commands in.');
      if (commands.length === 0 && !restart) return failedOutcome('Name a command.', 'invalid_tool_input');
      try {
        const outputs = await abilities.shell.run({
          owner: principal,
          containerId,
          commands,
          restart,
          timeoutMs: input.timeout_ms,
          outputBytes: input.max_output_length,
          signal,
        });
        const [only] = outputs;
        const shown = outputs.map(formatOutput);
        return {
          result:
            commands.length === 1 && only !== undefined
              ? { ...formatOutput(only), container_id: containerId }
              : { output: shown, container_id: containerId },
        };
      } catch (error) {
        if (error instanceof ShellError) return failedOutcome(error.message, error.code);
        throw error;
      }
    },
  };
}

const WHY = {
  timeout: 'The command took too long and was ended.',
  output: 'The command wrote too much and was ended.',
  disk: 'The home directory is larger than it may be: remove files, or start another container.',
  aborted: 'The command was ended, because its result is no longer needed.',
} as const satisfies Readonly<Record<NonNullable<ShellOutput['stopped']>, string>>;

function formatOutput({ command, stdout, stderr, exitCode, stopped }: ShellOutput) {
  return {
    command,
    stdout,
    stderr,
    exitCode,
    ...(stopped !== undefined && { stopped, note: WHY[stopped] }),
  };
}
