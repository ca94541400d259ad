import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ServerTool } from '../contract.ts';

/** @spec tool-39 */
const SLEEP_S_MAX = 2_592_000;
const COMMANDS_MAX = 100;

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

const call = z.object({
  command: z.string().optional().describe('One command line.'),
  commands: z.array(z.string()).max(COMMANDS_MAX).optional().describe('Several command lines, one after the other.'),
  restart: z.boolean().optional().describe('Start the shell anew first.'),
  timeout_ms: z.int().min(1).optional().describe('Bound on each command, in milliseconds.'),
  max_output_length: z.int().min(1).optional().describe('Bound on each output stream, in characters.'),
});

const DESCRIPTION = 'Runs command lines in a bash shell that keeps its state from call to call.';

/**
 * A shell. Commands of a model never run on the machine of the gateway: the caller runs them, and its call is an ordinary
 * one of a function. @spec tool-39
 */
export const bash: ServerTool<typeof parameters, typeof call> = {
  type: 'service:bash',
  summary: 'Names the bash tool that a caller runs itself.',
  parameters,
  describe: () => ({ description: DESCRIPTION, arguments: call }),
  clientFunction({ engine }, path) {
    if (engine !== 'service') return { name: 'bash', description: DESCRIPTION, arguments: call };
    const message = 'must be "auto" or "native": this gateway has no sandbox to run commands in';
    throw new GatewayError('invalid_request', `${path}.engine: ${message}.`, {
      issues: [{ path: `${path}.engine`, message }],
    });
  },
  open: () => ({
    run: () => Promise.reject(new GatewayError('invalid_request', 'This gateway has no sandbox to run commands in.')),
  }),
};
