import type { CommandLimits } from '../contract.ts';

/** What a container is made of. */
export interface PodmanShape {
  /** The directory that is the root file system, read only. */
  readonly rootfs: string;
  readonly home: string;
  /** What commands read as `/mnt`. Absent: it is that of the root file system. */
  readonly mnt?: string | undefined;
  readonly limits: CommandLimits;
  /** Names the container, and says of which gateway it is. */
  readonly name: string;
  /** It belongs to root: users of containers are then users of the host from here on. Absent: it does not. */
  readonly firstUser?: number | undefined;
}

export const LABEL = 'model-gateway.process';
/** The user of commands. */
export const USER_ID = 1_000;
const USERS = 65_536;
/** `/tmp` has so much of the memory limit. */
const TMP_SHARE = 4;
const FILES_MAX = 1_024;
const TASKS_MAX = 8_192;

/**
 * The arguments of `podman run` before the command. No path of the host is in a container but the root file system, the home and
 * the uploads; there is no network but its own loopback, and nothing is pulled.
 * @source podman-run(1) of 4.3, read 2026-11
 */
export function podmanArguments({ rootfs, home, mnt, limits, name, firstUser }: PodmanShape): readonly string[] {
  const { memoryBytes, cpus, processes } = limits;
  const users =
    firstUser === undefined
      ? ['--userns', `keep-id:uid=${USER_ID},gid=${USER_ID}`]
      : ['--uidmap', `0:${firstUser}:${USERS}`, '--gidmap', `0:${firstUser}:${USERS}`];
  const options: readonly (readonly string[])[] = [
    ['run', '--rm', '--interactive', '--name', name, '--label', `${LABEL}=${process.pid}`],
    [
      '--log-driver',
      'none',
      '--env-host=false',
      '--http-proxy=false',
      '--no-hosts',
      '--passwd=false',
      '--hostname',
      'container',
    ],
    users,
    ['--user', `${USER_ID}:${USER_ID}`],
    ['--cap-drop', 'all', '--security-opt', 'no-new-privileges', '--security-opt', 'mask=/sys'],
    ['--network', 'none', '--ipc', 'private', '--pid', 'private'],
    ['--memory', `${memoryBytes}b`, '--memory-swap', `${memoryBytes}b`, '--cpus', String(cpus)],
    ['--pids-limit', String(processes), '--ulimit', 'core=0:0', '--ulimit', `nofile=${FILES_MAX}:${FILES_MAX}`],
    // Of all containers together: each of them is bounded by its control group.
    ['--ulimit', `nproc=${TASKS_MAX}:${TASKS_MAX}`],
    ['--read-only', '--read-only-tmpfs=false'],
    ['--tmpfs', `/tmp:size=${Math.ceil(memoryBytes / TMP_SHARE)},mode=1777,nosuid,nodev`],
    ['--volume', `${home}:/home/agent:rw,nosuid,nodev`],
    mnt === undefined ? [] : ['--volume', `${mnt}:/mnt:ro,nosuid,nodev`],
    ['--workdir', '/home/agent', '--unsetenv-all', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin'],
    ['--env', 'HOME=/home/agent', '--env', 'LANG=C.UTF-8'],
    ['--rootfs', rootfs],
  ];
  return options.flat();
}
