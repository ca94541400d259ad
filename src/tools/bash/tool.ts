import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ShellOutput } from '../../canonical/tools/shell.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { OpenTool, ServerTool, ToolContext } from '../contract.ts';
import { CALL_MS_MAX, commandBounds, commandList, noteOf, openShell, shellParameters } from './open-shell.ts';

const parameters = z.strictObject({ engine: z.enum(['auto', 'native', 'service']).nullish(), ...shellParameters });
type Parameters = z.output<typeof parameters>;

const call = z.object({
  command: z.string().optional().describe('One command line.'),
  commands: commandList.optional().describe('Several command lines, one after the other.'),
  restart: z.boolean().optional().describe('Start the shell anew first.'),
  ...commandBounds,
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
      const message =
        'must be "auto" or "native": containers are off on this gateway; its operator turns them on with "containers.runtime" in the configuration';
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

function openBash({ environment }: Parameters, context: ToolContext): OpenTool<z.output<typeof call>> {
  const run = openShell(environment, context);
  return {
    run({ input: { command, commands = command === undefined ? [] : [command], restart = false, ...bounds }, signal }) {
      return run({ commands, restart, ...bounds }, signal, (outputs) => {
        const [only] = outputs;
        return commands.length === 1 && only !== undefined
          ? formatOutput(only)
          : { output: outputs.map((output) => formatOutput(output)) };
      });
    },
  };
}

function formatOutput(output: ShellOutput): JsonObject {
  const { command, stdout, stderr, exitCode } = output;
  return { command, stdout, stderr, exitCode, ...noteOf(output) };
}
