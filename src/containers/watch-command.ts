import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createBoundedOutput } from './bounded-output.ts';
import { ContainerError, type CommandResult, type CommandRun, type CommandStop } from './contract.ts';
import { measureHome } from './measure-home.ts';

const DISK_EVERY_MS = 500;
/** From the polite end to the other one. */
const GRACE_MS = 2_000;
const KILLED = 137;

/**
 * Runs inside. The command comes by standard input, so that no list of processes shows it. Exported variables and the working
 * directory are kept in the home from one command to the next.
 */
export const INSIDE = `IFS= read -r -d '' COMMAND
exec < /dev/null
STATE=/home/agent/.shell-state
[ -f "$STATE" ] && [ ! -L "$STATE" ] && . "$STATE" 2> /dev/null
trap '{ export -p; printf "cd %q 2> /dev/null\\n" "$PWD"; } > "$STATE" 2> /dev/null' EXIT
unset -n STATE
eval "$COMMAND"`;

/**
 * Reads what comes, and ends the command at its limits.
 * @param kill ends all that the command has started
 */
export async function watchCommand(
  child: ChildProcess,
  { home, command, limits, signal }: CommandRun,
  kill: (how: 'SIGTERM' | 'SIGKILL') => void,
): Promise<CommandResult> {
  const [stdout, stderr] = [createBoundedOutput(limits.outputBytes), createBoundedOutput(limits.outputBytes)];
  let stopped: CommandStop | undefined;
  let killing: NodeJS.Timeout | undefined;
  const stop = (why: CommandStop): void => {
    if (stopped !== undefined) return;
    stopped = why;
    const isPolite = why === 'timeout';
    if (isPolite) killing = setTimeout(() => kill('SIGKILL'), GRACE_MS);
    kill(isPolite ? 'SIGTERM' : 'SIGKILL');
  };
  const abort = (): void => stop('aborted');
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const timer = setTimeout(() => stop('timeout'), limits.commandMs);
  const watchDisk = async (): Promise<void> => {
    if ((await measureHome(home)) > limits.diskBytes) stop('disk');
  };
  const disk = setInterval(() => void watchDisk(), DISK_EVERY_MS);
  child.stdout?.on('data', (chunk: Buffer) => stdout.take(chunk) || stop('output'));
  child.stderr?.on('data', (chunk: Buffer) => stderr.take(chunk) || stop('output'));
  child.stdin?.on('error', () => undefined).end(command);
  try {
    const [code]: (number | null)[] = await once(child, 'close');
    if ((await measureHome(home)) > limits.diskBytes) stopped ??= 'disk';
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      exitCode: code ?? KILLED,
      ...(stopped !== undefined && { stopped }),
    };
  } catch (cause) {
    throw new ContainerError('The command could not be started.', { cause });
  } finally {
    signal.removeEventListener('abort', abort);
    clearTimeout(timer);
    clearTimeout(killing);
    clearInterval(disk);
  }
}
