import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBoundedOutput } from '../bounded-output.ts';
import { measureHome } from '../measure-home.ts';
import {
  ContainerError,
  type CommandResult,
  type CommandRun,
  type CommandStop,
  type ContainerRuntime,
} from '../contract.ts';
import { bubblewrapArguments } from './arguments.ts';
import { openControlGroups, type ControlGroup } from './cgroups.ts';
import { createSeccompFilter, hasSeccompFilter } from './seccomp.ts';

export interface BubblewrapSettings {
  /** The program. */
  readonly program: string;
  readonly rootfs: string;
  /** Absent: below the gateway's own group. */
  readonly cgroup?: string | undefined;
}

/** `/tmp` has so much of the memory limit. */
const TMP_SHARE = 4;
const DISK_EVERY_MS = 500;
/** From the polite end to the other one. */
const GRACE_MS = 2_000;
const SECCOMP_FD = 3;
const KILLED = 137;

/**
 * Joins the groups, then becomes bubblewrap: what it starts is in them from its first instruction on. Arguments are the files
 * to join, `--`, and the program.
 */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 126; shift; done; shift; exec "$@"';

/**
 * Runs inside. The command comes by standard input, so that no list of processes shows it. Exported variables and the working
 * directory are kept in the home from one command to the next.
 */
const INNER = `IFS= read -r -d '' COMMAND
exec < /dev/null
STATE=/home/agent/.shell-state
[ -f "$STATE" ] && [ ! -L "$STATE" ] && . "$STATE" 2> /dev/null
trap '{ export -p; printf "cd %q 2> /dev/null\\n" "$PWD"; } > "$STATE" 2> /dev/null' EXIT
unset -n STATE
eval "$COMMAND"`;

/** @throws ContainerError with what is missing, and its cure */
export async function openBubblewrap(settings: BubblewrapSettings): Promise<ContainerRuntime> {
  if (!hasSeccompFilter(process.arch))
    throw new ContainerError(`There is no filter of system calls for the architecture ${process.arch}.`);
  const { program, rootfs } = settings;
  await stat(program).catch(() => {
    throw new ContainerError('The program bwrap is not there: install bubblewrap 0.8.0 or newer.');
  });
  await stat(join(rootfs, 'bin/bash')).catch(() => {
    throw new ContainerError(
      'containers.rootfs has no bin/bash: make a root file system with `model-gateway containers rootfs DIR`.',
    );
  });
  const groups = await openControlGroups(settings.cgroup);
  const folder = await mkdtemp(join(tmpdir(), 'gateway-seccomp-'));
  const filter = join(folder, 'filter');
  await writeFile(filter, createSeccompFilter(process.arch), { mode: 0o600 });
  let runs = 0;
  return {
    name: 'bubblewrap',
    enforces: ['namespaces', 'a filter of system calls', `control groups ${groups.version}`, 'no network'],
    clear: () => groups.clear(isAlive),
    async run(run) {
      const group = await groups.create(String(++runs), run.limits);
      try {
        return await runInGroup(settings, filter, group, run);
      } finally {
        await group.remove();
      }
    },
  };
}

async function runInGroup(
  { program, rootfs }: BubblewrapSettings,
  filter: string,
  group: ControlGroup,
  run: CommandRun,
): Promise<CommandResult> {
  const { home, mnt, limits } = run;
  const file = await open(filter, 'r');
  try {
    const shape = { rootfs, home, mnt, tmpBytes: Math.ceil(limits.memoryBytes / TMP_SHARE), seccompFd: SECCOMP_FD };
    const inside = ['/bin/bash', '--noprofile', '--norc', '-c', INNER];
    const args = ['-c', JOIN, 'sh', ...group.joins, '--', program, ...bubblewrapArguments(shape), '--', ...inside];
    // Process 1 inside is bubblewrap, whose environment can be read there: it has none.
    const child = spawn('/bin/sh', args, {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', file.fd],
      detached: true,
    });
    return await watch(child, run);
  } finally {
    await file.close();
  }
}

/** Reads what comes, and ends the command at its limits. */
async function watch(child: ChildProcess, { home, command, limits, signal }: CommandRun): Promise<CommandResult> {
  const [stdout, stderr] = [createBoundedOutput(limits.outputBytes), createBoundedOutput(limits.outputBytes)];
  let stopped: CommandStop | undefined;
  let killing: NodeJS.Timeout | undefined;
  const stop = (why: CommandStop): void => {
    if (stopped !== undefined) return;
    stopped = why;
    const isPolite = why === 'timeout';
    // The whole group of processes outside: inside, all die with process 1.
    if (isPolite) killing = setTimeout(() => killAll(child, 'SIGKILL'), GRACE_MS);
    killAll(child, isPolite ? 'SIGTERM' : 'SIGKILL');
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

function killAll({ pid }: ChildProcess, how: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, how);
  } catch {
    // It ended meanwhile.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
