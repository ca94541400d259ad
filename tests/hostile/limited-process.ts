import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const MB = 1_048_576;
const ENTRY = path.join(import.meta.dirname, '../../src/main.ts');

/** How a limit is enforced: by the kernel, or by the process itself, which is informed of it. */
export type Keeper = 'cgroup v1' | 'cgroup v2' | 'environment';

/** A gateway in a process of its own that may use so much memory. */
export interface LimitedProcess {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly keeper: Keeper;
  /** What ended it; `undefined` while it runs. */
  readonly ended: () => string | undefined;
  /** The most that it has used at a time, MB. */
  readonly peakMb: () => number;
  close(): Promise<void>;
}

export interface LimitedOptions {
  /** 0: none. */
  readonly limitMb: number;
  readonly configPath: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** A command that starts it: `taskset`. */
  readonly launcher?: readonly string[];
}

interface Group {
  readonly keeper: Keeper;
  /** The file that takes the id of a process. */
  readonly procs: string;
  remove(): void;
}

/** A control group with a limit, where this process may make one and `HOSTILE_KEEPER=environment` does not forbid it. */
function makeGroup(limitMb: number): Group | undefined {
  if (process.env['HOSTILE_KEEPER'] === 'environment') return undefined;
  const name = `gateway-hostile-${process.pid}-${Math.round(performance.now())}`;
  return (
    tryGroup('cgroup v1', `/sys/fs/cgroup/memory/${name}`, 'memory.limit_in_bytes', limitMb) ??
    tryGroup('cgroup v2', `/sys/fs/cgroup/${name}`, 'memory.max', limitMb)
  );
}

function tryGroup(keeper: Keeper, folder: string, file: string, limitMb: number): Group | undefined {
  const remove = (): void => {
    try {
      rmdirSync(folder);
    } catch {
      // Something still ends in it: an empty group that is left behind costs nothing.
    }
  };
  try {
    if (!existsSync(path.dirname(folder))) return undefined;
    mkdirSync(folder);
    if (!existsSync(path.join(folder, file))) throw new Error('the controller is not on');
    writeFileSync(path.join(folder, file), String(limitMb * MB));
    return { keeper, procs: path.join(folder, 'cgroup.procs'), remove };
  } catch {
    remove();
    return undefined;
  }
}

export async function startLimited(options: LimitedOptions): Promise<LimitedProcess> {
  const { limitMb, configPath, dataDir } = options;
  const group = limitMb === 0 ? undefined : makeGroup(limitMb);
  const reported = limitMb > 0 && group === undefined;
  const args = [
    // V8 finds the kernel's limit itself, but not one in a variable.
    ...(reported ? [`--max-old-space-size=${Math.floor(limitMb / 2)}`] : []),
    ENTRY,
    'serve',
    '--port',
    '0',
    '--config',
    configPath,
    '--data-dir',
    dataDir,
  ];
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...options.env,
    ...(reported && { GATEWAY_MEMORY_LIMIT_MB: String(limitMb) }),
  };
  // The shell joins the group and becomes the gateway, so that not a page of it is counted elsewhere.
  const [file = process.execPath, ...others] = [...(options.launcher ?? []), process.execPath, ...args];
  const child =
    group === undefined
      ? spawn(file, others, { env })
      : spawn('/bin/sh', ['-c', 'echo $$ > "$0" && exec "$@"', group.procs, file, ...others], { env });
  const output = collect(child);
  let ended: string | undefined;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = `code ${code}, signal ${signal}: ${output.errors().slice(-2_000)}`;
      resolve();
    });
  });
  let peakMb = 0;
  const look = (): void => void (peakMb = Math.max(peakMb, readPeakMb(child.pid)));
  const timer = setInterval(look, 250);
  const url = await Promise.race([
    output.until(/listening on (\S+)/),
    exited.then(() => Promise.reject(new Error(`The gateway did not start: ${ended}`))),
  ]);
  return {
    url,
    keeper: group?.keeper ?? 'environment',
    ended: () => ended,
    peakMb() {
      look();
      return peakMb;
    },
    async close() {
      clearInterval(timer);
      child.kill('SIGKILL');
      await exited;
      group?.remove();
    },
  };
}

function collect(child: ChildProcess): { until(pattern: RegExp): Promise<string>; errors(): string } {
  let [text, errors] = ['', ''];
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (errors = (errors + part).slice(-20_000)));
  const found = Promise.withResolvers<string>();
  let pattern: RegExp | undefined;
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(-20_000);
    const match = pattern?.exec(text)?.[1];
    if (match !== undefined) found.resolve(match);
  });
  return {
    until(wanted) {
      pattern = wanted;
      return found.promise;
    },
    errors: () => errors,
  };
}

/** 0 where the machine does not say it. */
function readPeakMb(pid: number | undefined): number {
  try {
    const line = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
