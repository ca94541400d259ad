import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { sandboxModels } from '../sandbox/models.ts';
import type { Io } from './command.ts';
import { startSandbox, type Sandbox } from '../sandbox/server.ts';

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 9_100;
const PORT_MAX = 65_535;

const HELP = `Usage: model-gateway sandbox [--port ${DEFAULT_PORT}] [--host ${DEFAULT_HOST}]

Starts the sandbox alone: an upstream for tests that speaks the formats of chats and of all other kinds of models, costs
nothing and answers the same every time. Port 0 picks a free one. Stops at Ctrl-C.

Models:
`;

type Streams = Pick<Io, 'stdout' | 'stderr'>;

/**
 * Runs until SIGINT or SIGTERM. Prints one line that holds `listening on http://HOST:PORT`.
 * @returns the exit code: 0, 1 when the address cannot be listened on, 2 for a wrong command line
 */
export async function runSandbox(args: readonly string[], { stdout, stderr }: Streams = process): Promise<number> {
  const options = readArguments(args);
  if (typeof options === 'string') {
    stderr.write(`${options}\n`);
    return 2;
  }
  if (options.isHelp) {
    stdout.write(`${HELP}${describeModels()}\n`);
    return 0;
  }
  const sandbox = await listen(options.host, options.port);
  if (typeof sandbox === 'string') {
    stderr.write(`${sandbox}\n`);
    return 1;
  }
  stdout.write(`sandbox listening on ${new URL(sandbox.baseUrl).origin}\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await sandbox.close();
  return 0;
}

interface Arguments {
  readonly host: string;
  readonly port: number;
  readonly isHelp: boolean;
}

/** A sentence when the command line is wrong. */
function readArguments(args: readonly string[]): Arguments | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { port: { type: 'string' }, host: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: false,
    });
    const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
    const isPort = values.port !== '' && Number.isInteger(port) && port >= 0 && port <= PORT_MAX;
    if (!isPort) return `--port must be a number from 0 to ${PORT_MAX}.`;
    return { host: values.host ?? DEFAULT_HOST, port, isHelp: values.help ?? false };
  } catch (error) {
    // The only thing that `parseArgs` throws is what is wrong with the command line.
    return error instanceof Error ? error.message : String(error);
  }
}

/** A sentence when the address cannot be listened on. */
async function listen(host: string, port: number): Promise<Sandbox | string> {
  try {
    return await startSandbox({ host, port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken. Choose another with --port.`;
    if (typeof code === 'string') return `Cannot listen on ${host}:${port} (${code}).`;
    throw error;
  }
}

function describeModels(): string {
  const models = sandboxModels();
  const width = Math.max(...models.map(({ endpoints: [endpoint] }) => endpoint.upstreamModel.length));
  return models
    .map(({ endpoints: [endpoint], description }) => `  ${endpoint.upstreamModel.padEnd(width)}  ${description}`)
    .join('\n');
}
