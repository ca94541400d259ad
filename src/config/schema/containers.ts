import { z } from 'zod';
import type { ContainersConfig } from '../config.ts';
import { key } from './key.ts';
import { OFF, optionalSection, text } from './parts.ts';

const BYTES_PER_MB = 1_048_576;
const MS_PER_S = 1_000;
const MS_PER_MINUTE = 60_000;

const MEMORY_MB_MIN = 16;
const MEMORY_MB_MAX = 8_192;
const CPUS_MIN = 0.05;
const CPUS_MAX = 4;
const PROCESSES_MIN = 8;
const PROCESSES_MAX = 1_024;
const DISK_MB_MAX = 20_480;
const COMMAND_S_MAX = 600;
const CALL_S_MAX = 1_200;
const EXPIRES_MINUTES_MAX = 43_200;

export const containersSection = optionalSection(
  {
    runtime: key(
      z.enum(['off', 'auto', 'bubblewrap', 'podman']),
      'What isolates commands of models; `auto`: what is there.',
      {
        default: 'off',
        example: 'auto',
      },
    ),
    rootfs: key(text, 'The directory that is the root file system of containers.', {
      usual: 'none: nothing runs',
      example: '/srv/gateway/rootfs',
    }),
    allow_rootful: key(z.boolean(), 'Podman may work as root: whatever breaks out of it is root.', OFF),
    cgroup: key(text, 'A writable control group (version 2) for commands.', {
      usual: "below the gateway's own",
      example: '/sys/fs/cgroup/gateway.slice/commands',
    }),
    limits: optionalSection(
      {
        memory_mb: key(z.int().min(MEMORY_MB_MIN).max(MEMORY_MB_MAX), 'Memory of a command.', { default: 512 }),
        cpus: key(z.number().min(CPUS_MIN).max(CPUS_MAX), 'Cores of a command.', { default: 1 }),
        processes: key(z.int().min(PROCESSES_MIN).max(PROCESSES_MAX), 'Processes and threads of a command.', {
          default: 128,
        }),
        disk_mb: key(z.int().min(1).max(DISK_MB_MAX), 'Space of a home directory.', { default: 1_024 }),
        command_seconds: key(z.int().min(1).max(COMMAND_S_MAX), 'A command may take so long.', { default: 60 }),
        call_seconds: key(z.int().min(1).max(CALL_S_MAX), 'All commands of a call may take so long.', { default: 300 }),
      },
      'What commands may use.',
    ),
    expires_after_minutes: key(
      z.int().min(1).max(EXPIRES_MINUTES_MAX),
      'A container without commands is removed after this time.',
      { default: 10_080 },
    ),
  },
  'Containers, in which `service:bash` runs commands of models: docs/containers.md.',
);

/** The section with its defaults. */
export function containersOf(section: z.output<typeof containersSection>): ContainersConfig {
  const {
    runtime = 'off',
    rootfs,
    cgroup,
    allow_rootful: allowsRootful = false,
    limits,
    expires_after_minutes: minutes = 10_080,
  } = section;
  return {
    runtime,
    allowsRootful,
    ...(rootfs !== undefined && { rootfs }),
    ...(cgroup !== undefined && { cgroup }),
    limits: {
      memoryBytes: (limits.memory_mb ?? 512) * BYTES_PER_MB,
      cpus: limits.cpus ?? 1,
      processes: limits.processes ?? 128,
      diskBytes: (limits.disk_mb ?? 1_024) * BYTES_PER_MB,
      commandMs: (limits.command_seconds ?? 60) * MS_PER_S,
    },
    callMs: (limits.call_seconds ?? 300) * MS_PER_S,
    expiresMs: minutes * MS_PER_MINUTE,
  };
}

/** In the words of the file. */
export function formatContainers({
  runtime,
  rootfs,
  allowsRootful,
  cgroup,
  limits,
  callMs,
  expiresMs,
}: ContainersConfig): object {
  return {
    runtime,
    rootfs,
    allow_rootful: allowsRootful,
    cgroup,
    limits: {
      memory_mb: limits.memoryBytes / BYTES_PER_MB,
      cpus: limits.cpus,
      processes: limits.processes,
      disk_mb: limits.diskBytes / BYTES_PER_MB,
      command_seconds: limits.commandMs / MS_PER_S,
      call_seconds: callMs / MS_PER_S,
    },
    expires_after_minutes: expiresMs / MS_PER_MINUTE,
  };
}
