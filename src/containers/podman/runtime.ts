import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { randomText } from '../../lib/ids.ts';
import { ContainerError, type CommandResult, type CommandRun, type ContainerRuntime } from '../contract.ts';
import { isAlive } from '../is-alive.ts';
import { INSIDE, watchCommand } from '../watch-command.ts';
import { LABEL, podmanArguments, USER_ID } from './arguments.ts';

export interface PodmanSettings {
  /** The program. */
  readonly program: string;
  readonly rootfs: string;
  /** Containers may be root's. */
  readonly allowsRootful: boolean;
  /** Of the gateway; podman gets what it needs to find its own files. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const exec = promisify(execFile);
const ADMIN_MS_MAX = 30_000;
const KILLS_MAX = 20;
const KILL_EVERY_MS = 250;
const NAME_CHARS = 12;
/** Users of the host that no account has, as `useradd` leaves them. @source subuid(5), read 2026-11 */
const FIRST_USER = 100_000;
const KEPT_VARIABLES = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'CONTAINERS_CONF'];

/** @throws ContainerError with what is missing, and its cure */
export async function openPodman(settings: PodmanSettings): Promise<ContainerRuntime> {
  const { rootfs, allowsRootful } = settings;
  await stat(join(rootfs, 'bin/bash')).catch(() => {
    throw new ContainerError(
      'containers.rootfs has no bin/bash: make a root file system with `model-gateway containers rootfs DIR`.',
    );
  });
  const podman = openProgram(settings);
  const said = await podman(['info', '--format', '{{.Host.Security.Rootless}} {{.Host.OCIRuntime.Name}}']);
  const [rootless, engine = 'an unknown engine'] = said.trim().split(' ');
  const isRootful = rootless !== 'true';
  if (isRootful && !allowsRootful)
    throw new ContainerError(
      'podman works as root here, so that whatever breaks out is root: run the gateway as a user of its own, or set containers.allow_rootful.',
    );
  return {
    name: 'podman',
    enforces: [
      isRootful ? 'users that are none of the host, by an engine of root' : 'namespaces of users',
      `the filter of system calls of ${engine}`,
      'control groups',
      'no network',
    ],
    clear: () => clear(podman),
    run: (run) => runNamed(settings, podman, isRootful ? FIRST_USER : undefined, run),
  };
}

type RunPodman = (args: readonly string[]) => Promise<string>;

function openProgram({ program, env }: PodmanSettings): RunPodman {
  return async (args) => {
    try {
      return (await exec(program, args, { env: envOf(env), timeout: ADMIN_MS_MAX })).stdout;
    } catch (cause) {
      const said = cause instanceof Error ? (cause.message.trim().split('\n').at(-1)?.slice(0, 200) ?? '') : '';
      throw new ContainerError(`podman ${args[0] ?? ''} failed: ${said}`, { cause });
    }
  };
}

/** Nothing of the gateway's: what a process outside of the container has is no business of one inside. */
function envOf(env: PodmanSettings['env']): Record<string, string> {
  return Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function runNamed(
  { program, rootfs, env }: PodmanSettings,
  podman: RunPodman,
  firstUser: number | undefined,
  run: CommandRun,
): Promise<CommandResult> {
  const name = `gateway-${process.pid}-${randomText(NAME_CHARS).toLowerCase()}`;
  const { home, mnt, limits } = run;
  if (firstUser !== undefined) await chown(home, firstUser + USER_ID, firstUser + USER_ID);
  const shape = podmanArguments({ rootfs, home, mnt, limits, name, firstUser });
  const inside = ['/bin/bash', '--noprofile', '--norc', '-c', INSIDE];
  const child = spawn(program, [...shape, ...inside], { env: envOf(env), cwd: '/', stdio: 'pipe' });
  const kill = (how: string): void => void end(podman, name, how, child);
  try {
    return await watchCommand(child, run, kill);
  } finally {
    await podman(['rm', '--force', '--ignore', name]).catch(() => undefined);
  }
}

/** The program is not the parent of what runs, so its engine ends that: it may not have begun yet. */
async function end(podman: RunPodman, name: string, how: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < KILLS_MAX && child.exitCode === null && child.signalCode === null; tries++)
    try {
      await podman(['kill', '--signal', how, name]);
      return;
    } catch {
      await sleep(KILL_EVERY_MS);
    }
}

/** Containers of gateways that are gone. */
async function clear(podman: RunPodman): Promise<void> {
  const listed = await podman(['ps', '--all', '--filter', `label=${LABEL}`, '--format', '{{.Names}}']);
  const left = listed.split('\n').filter((name) => {
    const pid = Number(/^gateway-(\d+)-/.exec(name)?.[1]);
    return Number.isInteger(pid) && pid !== process.pid && !isAlive(pid);
  });
  if (left.length > 0) await podman(['rm', '--force', '--ignore', ...left]);
}
