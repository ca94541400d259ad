import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/cli/main.ts';

/**
 * Runs a command line in this process: quicker than a process of its own, for what needs no signal and no port. There
 * is no environment, and no configuration file of the working directory.
 */
export async function captureCli(
  args: readonly string[],
  input?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  if (input !== undefined) stdin.end(input);
  const code = await runCli(args, { env: { GATEWAY_CONFIG: '/dev/null' }, stdin, stdout, stderr });
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) };
}

function textOf(stream: PassThrough): string {
  const text: unknown = stream.setEncoding('utf8').read();
  return typeof text === 'string' ? text : '';
}
