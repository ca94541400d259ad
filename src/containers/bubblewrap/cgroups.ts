import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContainerError, type CommandLimits } from '../contract.ts';

/** One control group for one command. */
export interface ControlGroup {
  /** Files into which a process writes `0` to join. */
  readonly joins: readonly string[];
  /** Kills what is in it, and removes it. */
  remove(): Promise<void>;
}

/** Control groups of commands, below the gateway's own or a given one. */
export interface ControlGroups {
  /** `v1`, `v2`. */
  readonly version: string;
  create(name: string, limits: CommandLimits): Promise<ControlGroup>;
  /** Removes groups whose gateway is gone. @param isAlive by the id of its process */
  clear(isAlive: (pid: number) => boolean): Promise<void>;
}

const ROOT = '/sys/fs/cgroup';
const PREFIX = 'mgw-';
/** Until a group without processes can be removed. */
const REMOVE_TRIES = 100;
const REMOVE_WAIT_MS = 20;
const PERIOD_US = 100_000;
const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;

const CURE =
  'Run the gateway in a unit of systemd with Delegate=yes and DelegateSubgroup=gateway, or name a writable group in containers.cgroup.';

/**
 * Finds where groups with limits on memory and processes can be made.
 * @param given the operator's choice. Absent: the gateway's own group
 * @throws ContainerError with the cure: without such limits nothing may run
 */
export async function openControlGroups(given?: string): Promise<ControlGroups> {
  const own = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  const unified = await openUnified(given, own);
  if (unified !== undefined) return unified;
  if (given !== undefined)
    throw new ContainerError(
      `The control group of containers.cgroup cannot be used: it must be of version 2, writable, without processes of its own, and have the controllers ${CONTROLLERS.join(', ')}.`,
    );
  const separate = await openSeparate(own);
  if (separate !== undefined) return separate;
  throw new ContainerError(
    `Memory and processes of commands cannot be limited here: no control group is writable. ${CURE}`,
  );
}

/** Version 2: all controllers in one tree. */
async function openUnified(given: string | undefined, own: string): Promise<ControlGroups | undefined> {
  const path = /^0::(\/.*)$/m.exec(own)?.[1];
  const candidates = given === undefined ? ownCandidates(path) : [given];
  for (const parent of candidates) {
    const controllers = await readFile(join(parent, 'cgroup.controllers'), 'utf8').catch(() => '');
    if (!CONTROLLERS.every((name) => controllers.split(/\s+/).includes(name)) || !(await isWritable(parent))) continue;
    try {
      await writeFile(join(parent, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
    } catch {
      // A group with processes of its own cannot pass controllers on: the next candidate may.
      continue;
    }
    return groupsIn('v2', [parent], unifiedLimits);
  }
  return undefined;
}

function ownCandidates(path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  const own = join(ROOT, path);
  return path === '/' ? [own] : [dirname(own), own];
}

/** Version 1: a tree for each controller. @source kernel.org cgroup-v1, read 2026-11 */
async function openSeparate(own: string): Promise<ControlGroups | undefined> {
  const parents: string[] = [];
  for (const controller of CONTROLLERS) {
    const path = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(/.*)$`, 'm').exec(own)?.[1];
    if (path === undefined) return undefined;
    const inContainer = join(ROOT, controller);
    const parent = (await isWritable(join(inContainer, path))) ? join(inContainer, path) : inContainer;
    if (!(await isWritable(parent))) return undefined;
    parents.push(parent);
  }
  return groupsIn('v1', parents, separateLimits);
}

type Settings = (
  parents: readonly string[],
  limits: CommandLimits,
) => readonly (readonly [file: string, value: string, isOptional?: boolean])[];

const unifiedLimits: Settings = ([group = ''], { memoryBytes, processes, cpus }) => [
  [join(group, 'memory.max'), String(memoryBytes)],
  [join(group, 'memory.swap.max'), '0', true],
  [join(group, 'pids.max'), String(processes)],
  [join(group, 'cpu.max'), `${Math.ceil(cpus * PERIOD_US)} ${PERIOD_US}`],
];

const separateLimits: Settings = ([memory = '', pids = '', cpu = ''], { memoryBytes, processes, cpus }) => [
  [join(memory, 'memory.limit_in_bytes'), String(memoryBytes)],
  // Only a kernel that counts swap has it.
  [join(memory, 'memory.memsw.limit_in_bytes'), String(memoryBytes), true],
  [join(pids, 'pids.max'), String(processes)],
  [join(cpu, 'cpu.cfs_period_us'), String(PERIOD_US)],
  [join(cpu, 'cpu.cfs_quota_us'), String(Math.ceil(cpus * PERIOD_US))],
];

function groupsIn(version: string, parents: readonly string[], settings: Settings): ControlGroups {
  return {
    version,
    async create(name, limits) {
      const paths = parents.map((parent) => join(parent, `${PREFIX}${process.pid}-${name}`));
      try {
        for (const path of paths) await mkdir(path);
        for (const [file, value, isOptional] of settings(paths, limits))
          await writeFile(file, value).catch((error: unknown) => {
            if (isOptional !== true) throw error;
          });
      } catch (cause) {
        for (const path of paths) await removeGroup(path);
        throw new ContainerError(`A control group for the command could not be made. ${CURE}`, { cause });
      }
      return {
        joins: paths.map((path) => join(path, 'cgroup.procs')),
        async remove() {
          for (const path of paths) await removeGroup(path);
        },
      };
    },
    async clear(isAlive) {
      for (const parent of parents)
        for (const name of await readdir(parent).catch(() => [])) {
          const pid = /^mgw-(\d+)-/.exec(name)?.[1];
          if (pid !== undefined && !isAlive(Number(pid))) await removeGroup(join(parent, name));
        }
    },
  };
}

/** Processes that a command has left die here: a group goes away only when it is empty. */
async function removeGroup(path: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    const members = await readFile(join(path, 'cgroup.procs'), 'utf8').catch(() => '');
    for (const pid of members.split('\n').filter((line) => line !== '' && line !== '0')) kill(Number(pid));
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      await sleep(REMOVE_WAIT_MS);
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
