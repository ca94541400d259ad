import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chown, lchown, lstat, opendir, stat } from 'node:fs/promises';
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
  /** A container stays for now that could not be removed: it is tried again after each command. */
  readonly onLeft: (name: string, error: unknown) => void;
  /** Of the gateway; podman gets what it needs to find its own files. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const exec = promisify(execFile);
const ADMIN_MS_MAX = 30_000;
const KILLS_MAX = 20;
const KILL_EVERY_MS = 250;
/** From the first try to kill what runs to the end of the program that waits for it. */
const CLIENT_MS_MAX = 10_000;
/** Containers that could not be removed; of more, the next start removes the others. */
const LEFT_MAX = 1_000;
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
  const [rootless, runtime = 'an unknown engine'] = said.trim().split(' ');
  const isRootful = rootless !== 'true';
  if (isRootful && !allowsRootful)
    throw new ContainerError(
      'podman works as root here, so that whatever breaks out is root: run the gateway as a user of its own, or set containers.allow_rootful.',
    );
  const firstUser = isRootful ? FIRST_USER : undefined;
  const engine: Engine = { podman, firstUser, remove: createRemover(podman, settings.onLeft) };
  return {
    name: 'podman',
    enforces: [
      isRootful ? 'users that are none of the host, by an engine of root' : 'namespaces of users',
      `the filter of system calls of ${runtime}`,
      'control groups',
      'no network',
    ],
    clear: () => clear(podman),
    run: (run) => runNamed(settings, engine, run),
  };
}

type RunPodman = (args: readonly string[]) => Promise<string>;

interface Engine {
  readonly podman: RunPodman;
  readonly remove: (name: string) => Promise<void>;
  /** It belongs to root: users of containers are then users of the host from here on. Absent: it does not. */
  readonly firstUser: number | undefined;
}

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
  { podman, remove, firstUser }: Engine,
  run: CommandRun,
): Promise<CommandResult> {
  const name = `gateway-${process.pid}-${randomText(NAME_CHARS).toLowerCase()}`;
  const { home, mnt, limits } = run;
  if (firstUser !== undefined) {
    await chown(home, firstUser + USER_ID, firstUser + USER_ID);
    if (mnt !== undefined) await giveAll(mnt, firstUser + USER_ID);
  }
  const shape = podmanArguments({ rootfs, home, mnt, limits, name, firstUser });
  const inside = ['/bin/bash', '--noprofile', '--norc', '-c', INSIDE];
  const child = spawn(program, [...shape, ...inside], { env: envOf(env), cwd: '/', stdio: 'pipe' });
  let lastResort: NodeJS.Timeout | undefined;
  const kill = (how: Ending): void => {
    if (how === 'SIGKILL') lastResort ??= setTimeout(() => endClient(child), CLIENT_MS_MAX);
    void end(podman, name, how, child);
  };
  try {
    return await watchCommand(child, run, kill);
  } finally {
    clearTimeout(lastResort);
    await remove(name);
  }
}

/**
 * Users of containers read what the gateway's user has put there. Commands cannot change this folder, so that no name in it
 * leads elsewhere meanwhile; a file that is being replaced at this moment has its new owner at the next command.
 */
async function giveAll(path: string, user: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (found.uid !== user) await lchown(path, user, user).catch(ignoreMissing);
  if (!found.isDirectory()) return;
  for await (const { name } of await opendir(path)) await giveAll(join(path, name), user);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}

type Ending = 'SIGTERM' | 'SIGKILL';

/**
 * The program is not the parent of what runs, so its engine ends that: it may not have begun yet. What is killed is killed until
 * the program has ended.
 */
async function end(podman: RunPodman, name: string, how: Ending, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < KILLS_MAX && child.exitCode === null && child.signalCode === null; tries++) {
    const isSent = await podman(['kill', '--signal', how, name]).then(
      () => true,
      () => false,
    );
    if (isSent && how === 'SIGTERM') return;
    await sleep(KILL_EVERY_MS);
  }
  if (how === 'SIGKILL') endClient(child);
}

/** Its container may go on for now: it is removed by force. What it has started may hold its streams open. */
function endClient(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Removes the container of a command, and after that tries one again that could not be removed after another command. */
function createRemover(podman: RunPodman, onLeft: PodmanSettings['onLeft']): Engine['remove'] {
  const left = new Set<string>();
  const remove = async (name: string): Promise<void> => {
    try {
      await podman(['rm', '--force', '--ignore', name]);
      left.delete(name);
    } catch (error) {
      if (!left.delete(name)) onLeft(name, error);
      // The one that failed last comes last.
      if (left.size < LEFT_MAX) left.add(name);
    }
  };
  return async (name) => {
    const [oldest] = left;
    await remove(name);
    if (oldest !== undefined) void remove(oldest);
  };
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
