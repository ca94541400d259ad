/*
 * Which system calls a container may not make, as a program of the kernel's packet filter. Allowed is what is not named: a
 * list of all that programs need ages with every library.
 * @source man7.org seccomp(2), bpf_jit of the kernel's filter.txt, read 2026-11
 */

/** Numbers of system calls: [x64, arm64]; undefined: the architecture has none. */
const DENIED: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
  ptrace: [101, 117],
  syslog: [103, 116],
  personality: [135, 92],
  modify_ldt: [154, undefined],
  pivot_root: [155, 41],
  adjtimex: [159, 171],
  chroot: [161, 51],
  acct: [163, 89],
  settimeofday: [164, 170],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  init_module: [175, 105],
  delete_module: [176, 106],
  quotactl: [179, 60],
  clock_settime: [227, 112],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  unshare: [272, 97],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  finit_module: [313, 273],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  pidfd_getfd: [438, 438],
  mount_setattr: [442, 442],
  quotactl_fd: [443, 443],
};

interface Architecture {
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly socket: number;
  readonly ioctl: number;
  readonly at: 0 | 1;
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, socket: 41, ioctl: 16, at: 0 },
  arm64: { audit: 0xc00000b7, clone: 220, clone3: 435, socket: 198, ioctl: 29, at: 1 },
};

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
/** Offsets in what the kernel hands to the filter. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const FIRST_ARGUMENT_AT = 16;
const SECOND_ARGUMENT_AT = 24;
/** The second numbering of x64, by which a filter could be passed by. */
const X32_BIT = 0x40000000;
/** New namespaces: of mounts, cgroups, hosts, IPC, users, processes, networks and time. */
const CLONE_NEW = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80;
/** Unix, IPv4, IPv6. */
const SOCKET_FAMILIES = [1, 2, 10];
/** Put text into a terminal as if it had been typed. */
const TERMINAL_INPUT = [0x5412, 0x541c];

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/** Whether a filter is known for this architecture. */
export function hasSeccompFilter(architecture: string): boolean {
  return Object.hasOwn(ARCHITECTURES, architecture);
}

/** Makes the program for bubblewrap's `--seccomp`. */
export function createSeccompFilter(name: string): Buffer {
  const architecture = ARCHITECTURES[name];
  if (architecture === undefined) throw new Error(`There is no filter for ${name}.`);
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [JUMP_EQUAL, 1, 0, architecture.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, KILL],
  ];
  for (const numbers of Object.values(DENIED)) {
    const number = numbers[architecture.at];
    if (number !== undefined) program.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, ERRNO | EPERM]);
  }
  // The C library falls back to `clone`, whose flags a filter can see.
  program.push([JUMP_EQUAL, 0, 1, architecture.clone3], [RETURN, 0, 0, ERRNO | ENOSYS]);
  program.push(...whereArgument(architecture.clone, FIRST_ARGUMENT_AT, [[JUMP_ANY_BIT, 0, 1, CLONE_NEW], deny()]));
  program.push(
    ...whereArgument(
      architecture.ioctl,
      SECOND_ARGUMENT_AT,
      TERMINAL_INPUT.flatMap((request): Instruction[] => [[JUMP_EQUAL, 0, 1, request], deny()]),
    ),
  );
  program.push(
    ...whereArgument(architecture.socket, FIRST_ARGUMENT_AT, [
      ...SOCKET_FAMILIES.map((family, index): Instruction => [JUMP_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
      deny(),
    ]),
  );
  program.push([RETURN, 0, 0, ALLOW]);
  return Buffer.concat(program.map(encode));
}

function deny(): Instruction {
  return [RETURN, 0, 0, ERRNO | EPERM];
}

/** Looks at an argument of one system call, and loads the number again for what follows. */
function whereArgument(number: number, offset: number, checks: readonly Instruction[]): readonly Instruction[] {
  return [[JUMP_EQUAL, 0, checks.length + 2, number], [LOAD, 0, 0, offset], ...checks, [LOAD, 0, 0, NUMBER_AT]];
}

function encode([code, jumpTrue, jumpFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpTrue, 2);
  bytes.writeUInt8(jumpFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
