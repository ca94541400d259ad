import { z } from 'zod';
import type { ShellOutput } from '../../canonical/tools/shell.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { OpenTool, ServerTool, ToolContext } from '../contract.ts';
import { CALL_MS_MAX, commandBounds, commandList, noteOf, openShell, shellParameters } from './open-shell.ts';

const parameters = z.strictObject({ engine: z.enum(['auto', 'service']).nullish(), ...shellParameters });

const call = z.object({
  commands: commandList.min(1).describe('Command lines, one after the other.'),
  ...commandBounds,
});

/** Command lines in a sandbox of the gateway, with results in the shape of hosted shells. Only where there is one. @spec container-10 */
export const shell: ServerTool<typeof parameters, typeof call> = {
  type: 'service:shell',
  summary: 'Runs commands in a sandbox of the gateway.',
  parameters,
  callMsMax: CALL_MS_MAX,
  describe: () => ({
    description:
      'Runs command lines in a shell that keeps its files, variables and working directory from call to call.',
    arguments: call,
  }),
  open: openHosted,
};

function openHosted(
  { environment }: z.output<typeof parameters>,
  context: ToolContext,
): OpenTool<z.output<typeof call>> {
  const run = openShell(environment, context);
  return {
    run: ({ input: { commands, ...bounds }, signal }) =>
      run({ commands, restart: false, ...bounds }, signal, (outputs) => ({
        output: outputs.map((output) => formatOutput(output)),
      })),
  };
}

function formatOutput(output: ShellOutput): JsonObject {
  const { stdout, stderr, exitCode } = output;
  const outcome = exitCode === null ? { type: 'timeout' } : { type: 'exit', exit_code: exitCode };
  return { stdout, stderr, outcome, ...noteOf(output) };
}
