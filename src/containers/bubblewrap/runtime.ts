import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, open, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INSIDE, watchCommand } from '../watch-command.ts';
import { ContainerError, type CommandResult, type CommandRun, type ContainerRuntime } from '../contract.ts';
import { bubblewrapArguments } from './arguments.ts';
import { isAlive } from '../is-alive.ts';
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
const SECCOMP_FD = 3;

/**
 * Joins the groups, then becomes bubblewrap: what it starts is in them from its first instruction on. Arguments are the files
 * to join, `--`, and the program.
 */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 126; shift; done; shift; exec "$@"';

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
    const inside = ['/bin/bash', '--noprofile', '--norc', '-c', INSIDE];
    const args = ['-c', JOIN, 'sh', ...group.joins, '--', program, ...bubblewrapArguments(shape), '--', ...inside];
    // Process 1 inside is bubblewrap, whose environment can be read there: it has none.
    const child = spawn('/bin/sh', args, {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', file.fd],
      detached: true,
    });
    // The whole group of processes outside: inside, all die with process 1.
    return await watchCommand(child, run, (how) => killAll(child, how));
  } finally {
    await file.close();
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
