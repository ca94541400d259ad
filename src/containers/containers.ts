import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ShellError, type Shell, type ShellCall, type ShellOutput, type ShellOwner } from '../canonical/tools/shell.ts';
import type { Clock } from '../lib/clock.ts';
import { ContainerError, type CommandLimits, type CommandResult, type ContainerRuntime } from './contract.ts';

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
const ONLY_OWNER = 0o700;
const STATE_FILE = '.shell-state';

export interface ContainerSettings {
  /** Where homes are kept. */
  readonly directory: string;
  readonly limits: CommandLimits;
  /** Of all commands of a call. */
  readonly callMs: number;
  /** A home is removed after this time without a command. */
  readonly expiresMs: number;
}

/** A container that is kept: a home, without a process. */
export interface KeptContainer {
  readonly folder: string;
  readonly lastActiveAtMs: number;
}

export interface Containers extends Shell {
  /** Lists the homes that are kept, the newest first. */
  list(): Promise<readonly KeptContainer[]>;
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
    const old = (await listHomes(directory)).filter(
      ({ folder, lastActiveAtMs }) => !queues.has(folder) && clock.nowMs() - lastActiveAtMs > settings.expiresMs,
    );
    for (const { folder } of old.slice(0, REAPED_MAX)) await removeHome(directory, folder);
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
    list: () => listHomes(directory),
    remove: (folder) => removeHome(directory, folder),
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

/** Equal ids of two workspaces are two containers. */
function folderOf({ accountId, workspaceId }: ShellOwner, containerId: string): string {
  return createHash('sha256').update(`${accountId}\n${workspaceId}\n${containerId}`).digest('hex').slice(0, 40);
}

function withStop(call: ShellCall, stop: AbortSignal): ShellCall {
  return { ...call, signal: AbortSignal.any([call.signal, stop]) };
}

async function runCommands(
  runtime: Pick<ContainerRuntime, 'run'>,
  { directory, limits, callMs }: ContainerSettings,
  folder: string,
  { commands, restart, timeoutMs, outputBytes, signal }: ShellCall,
  clock: Clock,
): Promise<readonly ShellOutput[]> {
  const home = join(directory, folder, 'home');
  await mkdir(home, { recursive: true, mode: ONLY_OWNER });
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
      command,
      limits: { ...limits, commandMs, outputBytes: output },
      signal,
    });
    outputs.push(formatOutput(command, result));
  }
  const now = new Date(clock.nowMs());
  await utimes(join(directory, folder), now, now);
  return outputs;
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

async function listHomes(directory: string): Promise<readonly KeptContainer[]> {
  const folders = (await readdir(directory).catch(() => [])).filter((name) => /^[0-9a-f]{40}$/.test(name));
  const homes: KeptContainer[] = [];
  for (const folder of folders) {
    const found = await stat(join(directory, folder)).catch(() => undefined);
    if (found !== undefined) homes.push({ folder, lastActiveAtMs: found.mtimeMs });
  }
  return homes.toSorted((one, other) => other.lastActiveAtMs - one.lastActiveAtMs);
}

async function removeHome(directory: string, folder: string): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(folder)) return false;
  const path = join(directory, folder);
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  await rm(path, { recursive: true, force: true });
  return isThere;
}
