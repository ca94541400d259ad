import { rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ShellError, type Shell, type ShellCall, type ShellOutput } from '../canonical/tools/shell.ts';
import type { Clock } from '../lib/clock.ts';
import { listOutputs } from './container-files.ts';
import { createContainerRoutes, expiresAtMs, type ContainerRoutes } from './container-routes.ts';
import { listContainers, removeContainer, type KeptContainer } from './kept-containers.ts';
import { folderOf, makeContainer, placesIn, readManifest } from './manifest.ts';
import { ContainerError, type ContainerSettings, type CommandResult, type ContainerRuntime } from './contract.ts';

/** Calls under way: of a workspace, and of the process. */
const CALLS_PER_WORKSPACE_MAX = 8;
const CALLS_MAX = 32;
/** Calls that wait for the same container. */
const WAITING_MAX = 16;
/** What a call may have returned of each stream. */
const OUTPUT_BYTES_MAX = 1_048_576;
const REAP_EVERY_MS = 3_600_000;
/** Homes that one look removes. */
const REAPED_MAX = 1_000;
const STATE_FILE = '.shell-state';

export interface Containers extends Shell {
  /** Lists all that are kept, the newest first. */
  list(): Promise<readonly KeptContainer[]>;
  /** What a workspace sees and does beside running commands. */
  readonly kept: ContainerRoutes;
  /** Removes a home. @returns whether there was one */
  remove(folder: string): Promise<boolean>;
  /** Removes homes that have expired. */
  reap(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

export function createContainers(
  runtime: Pick<ContainerRuntime, 'run'>,
  settings: ContainerSettings,
  clock: Clock,
  onFailed: (error: unknown) => void,
): Containers {
  const { directory } = settings;
  const calls = new Map<string, number>();
  const queues = new Map<string, { waiting: number; last: Promise<unknown> }>();
  const closing = new AbortController();
  let running = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Runs calls of one container one after the other. */
  async function inTurn<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
    const queue = queues.get(folder) ?? { waiting: 0, last: Promise.resolve() };
    if (queue.waiting >= WAITING_MAX)
      throw new ShellError('too_many_requests', 'Too many calls wait for this container. Try again later.');
    queue.waiting++;
    queues.set(folder, queue);
    const turn = queue.last.then(work, work);
    queue.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      if (--queue.waiting === 0) queues.delete(folder);
    }
  }

  async function reap(): Promise<void> {
    const old = (await listContainers(directory)).filter(
      (one) => !queues.has(one.folder) && clock.nowMs() > expiresAtMs(one, settings),
    );
    // One that cannot be removed keeps none of the others.
    for (const { folder } of old.slice(0, REAPED_MAX)) await removeContainer(directory, folder).catch(onFailed);
  }

  return {
    async run(call) {
      const workspace = `${call.owner.accountId} ${call.owner.workspaceId}`;
      const own = calls.get(workspace) ?? 0;
      if (closing.signal.aborted) throw new ShellError('unavailable', 'The gateway is stopping.');
      if (own >= CALLS_PER_WORKSPACE_MAX || running >= CALLS_MAX)
        throw new ShellError('too_many_requests', 'Too many commands are running. Try again later.');
      calls.set(workspace, own + 1);
      running++;
      try {
        const folder = folderOf(call.owner, call.containerId);
        return await inTurn(folder, () =>
          runCommands(runtime, settings, folder, withStop(call, closing.signal), clock),
        );
      } finally {
        running--;
        const left = (calls.get(workspace) ?? 1) - 1;
        if (left === 0) calls.delete(workspace);
        else calls.set(workspace, left);
      }
    },
    outputs: ({ owner, containerId }, sinceMs) =>
      listOutputs(placesIn(directory, folderOf(owner, containerId)), sinceMs),
    list: () => listContainers(directory),
    kept: createContainerRoutes(settings, clock, (folder) => queues.has(folder)),
    remove: (folder) => removeContainer(directory, folder),
    reap,
    start() {
      timer ??= setInterval(() => void reap().catch(onFailed), REAP_EVERY_MS).unref();
    },
    async close() {
      clearInterval(timer);
      closing.abort();
      await Promise.all([...queues.values()].map(({ last }) => last));
    },
  };
}

function withStop(call: ShellCall, stop: AbortSignal): ShellCall {
  return { ...call, signal: AbortSignal.any([call.signal, stop]) };
}

async function runCommands(
  runtime: Pick<ContainerRuntime, 'run'>,
  { directory, limits: configured, callMs }: ContainerSettings,
  folder: string,
  { owner, containerId, commands, restart, timeoutMs, outputBytes, signal }: ShellCall,
  clock: Clock,
): Promise<readonly ShellOutput[]> {
  const { home, mnt } = placesIn(directory, folder);
  const { accountId, workspaceId, keyHash = '' } = owner;
  await makeContainer(directory, folder, {
    id: containerId,
    accountId,
    workspaceId,
    keyHash,
    createdAtMs: clock.nowMs(),
  });
  const limits = { ...configured, memoryBytes: await memoryOf(directory, folder, configured.memoryBytes) };
  const uploads = await isThere(mnt);
  if (restart) await rm(join(home, STATE_FILE), { force: true });
  const endMs = clock.monotonicMs() + callMs;
  const outputs: ShellOutput[] = [];
  for (const command of commands) {
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs <= 0 || signal.aborted) {
      outputs.push({
        command,
        stdout: '',
        stderr: '',
        exitCode: null,
        stopped: signal.aborted ? 'aborted' : 'timeout',
      });
      continue;
    }
    const commandMs = Math.min(timeoutMs ?? limits.commandMs, limits.commandMs, leftMs);
    const output = Math.min(outputBytes ?? limits.outputBytes, OUTPUT_BYTES_MAX);
    const result = await runOne(runtime, {
      home,
      ...(uploads && { mnt }),
      command,
      limits: { ...limits, commandMs, outputBytes: output },
      signal,
    });
    outputs.push(formatOutput(command, result));
  }
  const now = new Date(clock.nowMs());
  // Another process may have deleted the container meanwhile.
  await utimes(join(directory, folder), now, now).catch(() => undefined);
  return outputs;
}

/** A container may have been made with less than the configuration allows. */
async function memoryOf(directory: string, folder: string, most: number): Promise<number> {
  return Math.min((await readManifest(directory, folder))?.memoryBytes ?? most, most);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function runOne(runtime: Pick<ContainerRuntime, 'run'>, run: Parameters<ContainerRuntime['run']>[0]) {
  try {
    return await runtime.run(run);
  } catch (cause) {
    if (!(cause instanceof ContainerError)) throw cause;
    throw new ShellError('unavailable', 'The command could not be run: the sandbox of this gateway failed.', { cause });
  }
}

function formatOutput(command: string, { stdout, stderr, exitCode, stopped }: CommandResult): ShellOutput {
  if (stopped === undefined) return { command, stdout, stderr, exitCode };
  return { command, stdout, stderr, exitCode: stopped === 'timeout' ? null : exitCode, stopped };
}
