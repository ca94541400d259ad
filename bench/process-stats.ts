import { readFileSync, writeFileSync } from 'node:fs';

// Linux counts CPU time in ticks of 1/100 s for every architecture that Node runs on: proc(5), sysconf(_SC_CLK_TCK).
const TICK_MS = 10;

/** User and system CPU time of a process with all its threads, in ms; undefined where there is no /proc. */
export function readCpuMs(pid: number): number | undefined {
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  // The second field is the command in brackets and may hold spaces: count from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The most memory that a server held in a suite. */
export interface Peak {
  readonly server: string;
  readonly suite: string;
  readonly peakMiB: number | undefined;
}

/** The most memory a process held since its start or the last reset, in MiB. */
export function readPeakMiB(pid: number): number | undefined {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

/** Starts the peak anew (proc(5): clear_refs 5). Where that is forbidden the peak stays that of the whole life of the process. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The figure is then an upper bound, which is what a peak is for.
  }
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
