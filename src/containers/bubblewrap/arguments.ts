/** What a container is made of. */
export interface SandboxShape {
  /** The directory that is the root file system, read only. */
  readonly rootfs: string;
  readonly home: string;
  /** What commands read as `/mnt`. Absent: it is that of the root file system. */
  readonly mnt?: string | undefined;
  /** Of `/tmp`, which is memory. */
  readonly tmpBytes: number;
  /** The number of the open file that holds the filter of system calls. */
  readonly seccompFd: number;
}

const USER_ID = '1000';

/**
 * The arguments of bubblewrap. Their order is fixed: a later mount hides an earlier one. No path of the host is in a container
 * but the root file system and the home; there is no network but its own loopback.
 * @source bwrap(1) of 0.8.0, read 2026-11; `--new-session`: CVE-2017-5226
 */
export function bubblewrapArguments({ rootfs, home, mnt, tmpBytes, seccompFd }: SandboxShape): readonly string[] {
  const options: readonly (readonly string[])[] = [
    ['--unshare-all'],
    ['--unshare-user'],
    ['--disable-userns'],
    ['--assert-userns-disabled'],
    ['--die-with-parent'],
    ['--new-session'],
    ['--cap-drop', 'ALL'],
    ['--clearenv'],
    ['--hostname', 'container'],
    ['--uid', USER_ID, '--gid', USER_ID],
    ['--ro-bind', rootfs, '/'],
    ['--proc', '/proc'],
    ['--dev', '/dev'],
    ['--size', String(tmpBytes), '--tmpfs', '/tmp'],
    ['--bind', home, '/home/agent'],
    ...(mnt === undefined ? [] : [['--ro-bind', mnt, '/mnt']]),
    ['--chdir', '/home/agent'],
    ['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin'],
    ['--setenv', 'HOME', '/home/agent'],
    ['--setenv', 'LANG', 'C.UTF-8'],
    ['--seccomp', String(seccompFd)],
  ];
  return options.flat();
}
