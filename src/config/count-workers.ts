import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, platform } from 'node:os';

/** A worker under load, with its part of what the first process needs. */
const WORKER_BYTES = 400 * 1_048_576;

/** What decides how many workers `auto` means. */
export interface MachineFacts {
  readonly cores: number;
  /** Cores that the cgroup grants, which may be a fraction; absent: as many as there are. */
  readonly quota?: number;
  /** What the gateway may use, all of its processes together. */
  readonly memoryBytes: number;
  /** Whether several processes can accept connections on one port, each on a socket of its own. */
  readonly sharesPorts: boolean;
}

/** The number of workers, at least 1. @param memoryBytes what the gateway may use */
export function countWorkers(workers: number | 'auto', memoryBytes: number): number {
  return workers === 'auto' ? workersFor({ ...findCores(), memoryBytes, sharesPorts: sharesPorts() }) : workers;
}

export function workersFor({ cores, quota, memoryBytes, sharesPorts: canShare }: MachineFacts): number {
  if (!canShare) return 1;
  const ofCores = quota === undefined ? cores : Math.min(cores, Math.ceil(quota));
  return Math.max(1, Math.min(ofCores, Math.floor(memoryBytes / WORKER_BYTES)));
}

/** As far as `reusePort` of `node:net` works and spreads connections. */
export function sharesPorts(): boolean {
  return platform() === 'linux' || platform() === 'freebsd';
}

function findCores(): Pick<MachineFacts, 'cores' | 'quota'> {
  const quota = parseQuota(readOrEmpty);
  // Node counts the cores of the quota, rounded down.
  return quota === undefined ? { cores: availableParallelism() } : { cores: cpus().length, quota };
}

/**
 * The CPU quota of this process's cgroup, in cores; `undefined`: there is none.
 * @param read the text of a file, empty where there is none
 * @source https://docs.kernel.org/admin-guide/cgroup-v2.html "cpu.max"
 */
export function parseQuota(read: (path: string) => string): number | undefined {
  const [max = '', period = ''] = read('/sys/fs/cgroup/cpu.max').split(/\s/);
  const [quotaUs, periodUs] =
    max === ''
      ? [read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'), read('/sys/fs/cgroup/cpu/cpu.cfs_period_us')]
      : [max, period];
  const cores = Number.parseInt(quotaUs, 10) / Number.parseInt(periodUs, 10);
  return cores > 0 && Number.isFinite(cores) ? cores : undefined;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
