import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

/** Builds the dashboard where its sources are newer than what was built, or nothing was. */
export interface Builder {
  /** Starts a build, unless one runs, ran a moment ago, or cannot. */
  heal(): void;
  isBuilding(): boolean;
}

export interface BuilderDeps {
  /** The folder of the sources, `dashboard`. */
  readonly folder: string;
  readonly monotonicMs: () => number;
  /** No build starts while the process ends. */
  readonly draining: () => boolean;
  readonly onFailed: (error: Error) => void;
}

const TRY_EVERY_MS = 60_000;
const BUILD_MS_MAX = 180_000;
const SCRIPT = 'build.js';
const TOOL = join('node_modules', 'vite', 'package.json');

/** `build.js` does nothing where what was built fits the sources. */
export function createBuilder({ folder, monotonicMs, draining, onFailed }: BuilderDeps): Builder {
  let triedMs: number | undefined;
  let isBuilding = false;
  const canBuild = (): boolean =>
    existsSync(join(folder, SCRIPT)) && [folder, join(folder, '..')].some((place) => existsSync(join(place, TOOL)));
  return {
    heal() {
      if (isBuilding || draining()) return;
      // What was built and fits needs one look in the life of a process.
      if (
        triedMs !== undefined &&
        (existsSync(join(folder, 'dist', 'index.html')) || monotonicMs() - triedMs < TRY_EVERY_MS)
      )
        return;
      triedMs = monotonicMs();
      if (!canBuild()) return;
      isBuilding = true;
      // Its environment holds nothing of the gateway's, such as keys of providers.
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
      const child = spawn(process.execPath, [SCRIPT], { cwd: folder, env, stdio: 'ignore', timeout: BUILD_MS_MAX });
      child.once('spawn', () => lowerPriority(child.pid));
      child.once('error', (error) => {
        isBuilding = false;
        onFailed(error);
      });
      child.once('close', () => (isBuilding = false));
      child.unref();
    },
    isBuilding: () => isBuilding,
  };
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already.
  }
}
