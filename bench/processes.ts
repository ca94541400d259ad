import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import * as z from 'zod';

import { loadResultSchema, type LoadJob, type LoadResult } from './load/load-job.ts';
import { vitalsSchema, type Vitals, type VitalsRequest } from './servers/vitals.ts';

const START_MS = 30_000;
const STOP_MS = 15_000;
const children = new Set<ChildProcess>();

/** Whether processes are bound to a core each: cpu 0 for what is measured, cpu 1 for what measures. */
export const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '1', 'true']).status === 0;

/** Binds this process to the core of what measures, where there are two. @returns what ends that */
export function pinThisProcess(): () => void {
  if (!isPinned) return () => undefined;
  const pin = (cpus: string): void => void spawnSync('taskset', ['-a', '-c', '-p', cpus, String(process.pid)]);
  const { stdout } = spawnSync('taskset', ['-c', '-p', String(process.pid)], { encoding: 'utf8' });
  const before = stdout.slice(stdout.lastIndexOf(':') + 1).trim();
  pin('1');
  return () => pin(before);
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServerProcess extends Address {
  readonly pid: number;
  /** Sends SIGTERM and waits; kills the process after 15 s. Whether it ended by itself, without an error. */
  stop(): Promise<boolean>;
}

/** A gateway that reports its vitals: watched-gateway.ts. */
export interface WatchedGateway extends ServerProcess {
  readVitals(request: VitalsRequest): Promise<Vitals>;
}

export interface LoadGenerator {
  readonly pid: number;
  run(job: LoadJob): Promise<LoadResult>;
}

export interface Program {
  readonly name: string;
  /** Arguments of node. */
  readonly args: readonly string[];
  /** Which one it is bound to. */
  readonly cpu: 0 | 1 | 'any';
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Where it listens, for a program that prints no address. */
  readonly address?: Address;
  /** A channel to this process, by whose end the program learns that it is over. */
  readonly hasChannel: boolean;
}

function start(program: Program): ChildProcess & { pid: number } {
  const command = [process.execPath, ...program.args];
  const [file, ...args] =
    isPinned && program.cpu !== 'any' ? ['taskset', '-c', String(program.cpu), ...command] : command;
  if (file === undefined) throw new Error('no command');
  const stdout = openSync(outputPath(program, 'out'), 'w');
  const stderr = openSync(outputPath(program, 'err'), 'w');
  const child = spawn(file, args, {
    cwd: path.join(import.meta.dirname, '..'),
    env: program.environment ?? process.env,
    stdio: ['ignore', stdout, stderr, program.hasChannel ? 'ipc' : 'ignore'],
  });
  closeSync(stdout);
  closeSync(stderr);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program.name} could not be started`);
  children.add(child);
  child.once('exit', () => children.delete(child));
  return Object.assign(child, { pid });
}

// Output goes to files, as an operator would redirect it: a pipe would make this process read every log line.
function outputPath(program: Program, stream: 'out' | 'err'): string {
  return path.join(program.directory, `${program.name}.${stream}.log`);
}

/** @throws when it ends, or has not printed its address within 30 s; the message holds the end of its output. */
export async function startServer(program: Program): Promise<ServerProcess> {
  return (await startListening(program)).server;
}

/** @throws as `startServer` */
export async function startWatchedGateway(program: Omit<Program, 'hasChannel'>): Promise<WatchedGateway> {
  const { child, server } = await startListening({ ...program, hasChannel: true });
  return {
    ...server,
    async readVitals(request) {
      const reply = nextReply(child, program.name);
      child.send(request);
      return vitalsSchema.parse(await reply);
    },
  };
}

async function startListening(
  program: Program,
): Promise<{ readonly child: ChildProcess; readonly server: ServerProcess }> {
  const child = start(program);
  for (let waitedMs = 0; waitedMs < START_MS && child.exitCode === null && child.signalCode === null; waitedMs += 25) {
    const address = await findAddress(program);
    if (address !== undefined) return { child, server: { pid: child.pid, ...address, stop: () => stop(child) } };
    await sleep(25);
  }
  await stop(child);
  throw new Error(`${program.name} did not start:\n${readOutputEnd(program)}`);
}

/** Undefined as long as it does not listen. */
async function findAddress(program: Program): Promise<Address | undefined> {
  if (program.address !== undefined) return (await accepts(program.address)) ? program.address : undefined;
  const output = readFileSync(outputPath(program, 'out'), 'utf8');
  const [, host, port] = /listening on http:\/\/([\d.]+):(\d+)/.exec(output) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}

async function accepts({ host, port }: Address): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, host, () => resolve(true)).on('error', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function readOutputEnd(program: Program): string {
  const output = readFileSync(outputPath(program, 'out'), 'utf8') + readFileSync(outputPath(program, 'err'), 'utf8');
  return output.slice(-2_000);
}

async function stop(child: ChildProcess): Promise<boolean> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(killer);
  }
  return child.exitCode === 0;
}

/** @throws when the process ends without one */
async function nextReply(child: ChildProcess, name: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const onExit = (): void => reject(new Error(`${name} ended`));
  child.once('message', resolve).once('exit', onExit);
  try {
    return await promise;
  } finally {
    child.off('message', resolve).off('exit', onExit);
  }
}

/** Ends what still runs; for the way out, whatever it was. */
export function stopAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

const replySchema = z.object({
  result: loadResultSchema.optional(),
  failed: z.string().optional(),
});

export async function startLoadGenerator(directory: string): Promise<LoadGenerator> {
  const child = start({
    name: 'load',
    args: [path.join(import.meta.dirname, 'load', 'load.ts')],
    cpu: 1,
    directory,
    hasChannel: true,
  });
  await nextReply(child, 'the load generator');
  return {
    pid: child.pid,
    async run(job) {
      child.send(job);
      const reply = replySchema.parse(await nextReply(child, 'the load generator'));
      if (reply.result === undefined) throw new Error(`the load generator failed: ${reply.failed}`);
      const { firstFault, ...counts } = reply.result;
      return firstFault === undefined ? counts : { ...counts, firstFault };
    },
  };
}
