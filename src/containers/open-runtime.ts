import { delimiter, join } from 'node:path';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openBubblewrap } from './bubblewrap/runtime.ts';
import { ContainerError, type ContainerRuntime } from './contract.ts';
import { openPodman } from './podman/runtime.ts';
import { findEscapes } from './self-test.ts';

export interface RuntimeSettings {
  /** The directory that is the root file system of containers. */
  readonly rootfs: string | undefined;
  readonly cgroup: string | undefined;
  readonly dataDir: string;
  readonly port: number;
  readonly choice: RuntimeChoice;
  /** Containers may be root's, where the engine is. */
  readonly allowsRootful: boolean;
  /** Programs are looked for in its `PATH`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A container of the engine could not be removed. It is tried again. Absent: that is passed over. */
  readonly onLeft?: ((name: string, error: unknown) => void) | undefined;
}

const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What may isolate: `auto` is the first that holds, in this order. */
export type RuntimeChoice = 'auto' | 'bubblewrap' | 'podman';

/**
 * Opens what can isolate commands on this machine, and tries to break out of it.
 * @throws ContainerError that says what is missing, or which attempt succeeded: nothing runs then, and never on the host
 */
export async function openRuntime(settings: RuntimeSettings): Promise<ContainerRuntime> {
  const { rootfs, choice } = settings;
  if (process.platform !== 'linux')
    throw new ContainerError(`Commands are isolated on Linux alone; this is ${process.platform}.`);
  if (rootfs === undefined)
    throw new ContainerError(
      'containers.rootfs is not set: make a root file system with `model-gateway containers rootfs DIR`, and name it there.',
    );
  if (choice !== 'auto') return openOne(choice, { ...settings, rootfs });
  const reasons: string[] = [];
  for (const one of ['bubblewrap', 'podman'] as const)
    try {
      return await openOne(one, { ...settings, rootfs });
    } catch (error) {
      if (!(error instanceof ContainerError)) throw error;
      reasons.push(error.message);
    }
  throw new ContainerError(reasons.join(' '));
}

async function openOne(
  choice: Exclude<RuntimeChoice, 'auto'>,
  settings: RuntimeSettings & { readonly rootfs: string },
): Promise<ContainerRuntime> {
  const { dataDir, port } = settings;
  const runtime = await OPEN[choice](settings);
  await runtime.clear();
  await requireStart(runtime);
  const escapes = await findEscapes(runtime, { dataDir, port });
  if (escapes.length > 0)
    throw new ContainerError(`The self-test of ${runtime.name} failed: a command ${escapes.join('; ')}.`);
  return runtime;
}

const OPEN = {
  async bubblewrap({ rootfs, cgroup, env }: RuntimeSettings & { readonly rootfs: string }) {
    const program = await findProgram('bwrap', env['PATH'] ?? USUAL_PATH);
    if (program === undefined)
      throw new ContainerError('The program bwrap is not there: install bubblewrap 0.8.0 or newer.');
    return openBubblewrap({ program, rootfs, cgroup });
  },
  async podman({ rootfs, env, allowsRootful, onLeft }: RuntimeSettings & { readonly rootfs: string }) {
    const program = await findProgram('podman', env['PATH'] ?? USUAL_PATH);
    if (program === undefined)
      throw new ContainerError('The program podman is not there: install podman 4.3 or newer.');
    return openPodman({ program, rootfs, allowsRootful, env, onLeft: onLeft ?? (() => undefined) });
  },
};

/** @throws ContainerError with the cure of what usually stands in the way */
async function requireStart(runtime: ContainerRuntime): Promise<void> {
  const limits = {
    memoryBytes: 67_108_864,
    cpus: 1,
    processes: 32,
    diskBytes: 16_777_216,
    commandMs: 10_000,
    outputBytes: 4_096,
  };
  const home = await mkdtemp(join(tmpdir(), 'gateway-self-test-'));
  try {
    const { signal } = new AbortController();
    const { stdout, stderr } = await runtime.run({ home, command: 'echo works', limits, signal });
    if (stdout !== 'works\n') throw new ContainerError(explain(runtime.name, stderr));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** @source github.com containers/bubblewrap issue 632, Ubuntu 24.04 release notes, read 2026-11 */
function explain(name: string, stderr: string): string {
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  if (name !== 'bubblewrap') return `${name} runs nothing here: ${said === '' ? 'it says nothing' : said}.`;
  if (/uid map: Permission denied|RTM_NEWADDR/.test(stderr))
    return `bubblewrap may not make user namespaces (${said}): AppArmor restricts them, as Ubuntu 24.04 and later do. Install a profile that allows them to bwrap alone: docs/containers.md.`;
  if (/No permissions to create a new namespace|Operation not permitted|clone/.test(stderr))
    return `bubblewrap may not make namespaces (${said}): inside of a container it cannot work; run the gateway outside of one.`;
  if (/Unknown option|unrecognized/.test(stderr)) return `bubblewrap is too old (${said}): install 0.8.0 or newer.`;
  return `bubblewrap runs nothing here: ${said === '' ? 'it says nothing' : said}.`;
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (folder.startsWith('/') && found?.isFile() === true) return file;
  }
  return undefined;
}
