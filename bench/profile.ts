import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import * as z from 'zod';

import { startGateway } from './gateway.ts';
import { prepareVariant } from './measure.ts';
import type { Profile } from './options.ts';
import { startLoadGenerator, type ServerProcess } from './processes.ts';
import { formatTable } from './report.ts';
import { BURST_CONNECTIONS } from './suites.ts';
import { listVariants, type VariantId } from './variants.ts';

const WARM_UP_MS = 2_000;
const MEASURED_MS = 6_000;
const ROWS = 40;
const WORKER_ROWS = 8;
const projectDirectory = path.join(import.meta.dirname, '..');

export interface ProfileOptions {
  readonly profile: Profile;
  readonly directory: string;
  readonly mock: ServerProcess;
  readonly models: readonly string[];
  readonly note: (line: string) => void;
}

/** Runs the gateway under V8's sampling profiler with 64 connections and returns where its time went. */
export async function profileGateway(options: ProfileOptions): Promise<string> {
  const { directory, mock, models, note } = options;
  const profileDirectory = path.join(directory, 'profiles');
  const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, '--cpu-prof-interval=500'];
  const gateway = await startGateway({ directory, upstream: mock, models, nodeArgs });
  const load = await startLoadGenerator(directory);
  const id: VariantId = options.profile === 'translated' ? 'translated' : 'chat';
  const variant = listVariants({ mock, json: mock, pipe: mock, gateway }).find((one) => one.id === id);
  const model = options.profile === 'whole' ? 'whole' : models.find((name) => name.startsWith('burst'));
  if (variant === undefined || model === undefined) throw new Error('nothing to profile');
  const { call, expectation } = await prepareVariant(variant, { model, size: 'small' });
  const run = async (durationMs: number): ReturnType<typeof load.run> =>
    load.run({
      kind: 'closed',
      host: call.host,
      port: call.port,
      request: call.request,
      expectation,
      connections: BURST_CONNECTIONS,
      durationMs,
    });
  note('warming up');
  await run(WARM_UP_MS);
  note('profiling');
  const fromUs = readMonotonicUs();
  const result = await run(MEASURED_MS);
  const span = { fromUs, toUs: readMonotonicUs() };
  note('stopping');
  await gateway.stop();
  const files = readdirSync(profileDirectory).filter((file) => file.endsWith('.cpuprofile'));
  if (files.length === 0) throw new Error('the gateway wrote no profile: it must exit by itself on SIGTERM');
  const sections = files
    .map((file) => summariseProfile(readFileSync(path.join(profileDirectory, file), 'utf8'), span))
    .toSorted((left, right) => right.busyMs - left.busyMs)
    .map((thread, index) => formatThread(thread, index === 0 ? ROWS : WORKER_ROWS));
  const rate = `${Math.round((result.completed * 1000) / result.elapsedMs)} answers/s while profiled, ${result.bad} bad`;
  return [rate, ...sections].join('\n\n');
}

/** The clock of V8's samples: both are CLOCK_MONOTONIC. */
function readMonotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

const profileSchema = z.object({
  /** us of the monotonic clock; each delta is counted from the sample before. */
  startTime: z.number(),
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

interface Thread {
  readonly busyMs: number;
  readonly totalMs: number;
  /** Self time by function, longest first; `(idle)` is left out. */
  readonly functions: readonly { readonly name: string; readonly place: string; readonly selfMs: number }[];
}

/** Sums the samples of a .cpuprofile within a span, by function: start and stop are not of interest. */
export function summariseProfile(json: string, span: { readonly fromUs: number; readonly toUs: number }): Thread {
  const profile = profileSchema.parse(JSON.parse(json));
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const callers = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  // A function of Node or V8 says little without the one of ours that called it.
  const ownCaller = (id: number): string => {
    for (let at = callers.get(id); at !== undefined; at = callers.get(at)) {
      const frame = frames.get(at);
      if (frame?.url.startsWith('file:') === true)
        return `${frame.functionName || '(anonymous)'} ${shortenUrl(frame.url)}:${frame.lineNumber + 1}`;
    }
    return '';
  };
  const functions = new Map<string, { name: string; place: string; selfMs: number }>();
  let idleMs = 0;
  let totalMs = 0;
  let atUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    const deltaUs = profile.timeDeltas[index] ?? 0;
    atUs += deltaUs;
    if (frame === undefined || atUs < span.fromUs || atUs > span.toUs) continue;
    const selfMs = deltaUs / 1000;
    totalMs += selfMs;
    if (frame.functionName === '(idle)') {
      idleMs += selfMs;
      continue;
    }
    const place = frame.url === '' ? ownCaller(id) : `${shortenUrl(frame.url)}:${frame.lineNumber + 1}`;
    const key = `${frame.functionName} ${place}`;
    const sum = functions.get(key) ?? { name: frame.functionName || '(anonymous)', place, selfMs: 0 };
    sum.selfMs += selfMs;
    functions.set(key, sum);
  }
  return {
    busyMs: totalMs - idleMs,
    totalMs,
    functions: functions
      .values()
      .toArray()
      .toSorted((left, right) => right.selfMs - left.selfMs),
  };
}

function shortenUrl(url: string): string {
  return url.startsWith('file:') ? path.relative(projectDirectory, fileURLToPath(url)) : url;
}

/** The folder that a function counts for: `src/wire`, `node_modules/undici`, `node:internal`, or what V8 names in brackets. */
function findOwner(name: string, place: string): string {
  if (place === '') return name;
  if (place.startsWith('node:')) return `node:${place.slice(5).split(/[/:]/)[0] ?? ''}`;
  const parts = place.split('/');
  return parts.slice(0, parts[0] === 'node_modules' && parts[1]?.startsWith('@') ? 3 : 2).join('/');
}

function formatThread(thread: Thread, rows: number): string {
  const share = (ms: number): string => `${((100 * ms) / thread.busyMs).toFixed(1)} %`;
  const owners = new Map<string, number>();
  for (const { name, place, selfMs } of thread.functions) {
    const owner = findOwner(name, place);
    owners.set(owner, (owners.get(owner) ?? 0) + selfMs);
  }
  const byOwner = owners
    .entries()
    .toArray()
    .toSorted((left, right) => right[1] - left[1]);
  return [
    `a thread, busy ${thread.busyMs.toFixed(0)} ms of ${thread.totalMs.toFixed(0)} ms`,
    formatTable(
      ['self time by function', 'share', 'ms', 'where'],
      thread.functions.slice(0, rows).map(({ name, place, selfMs }) => [name, share(selfMs), selfMs.toFixed(0), place]),
    ),
    formatTable(
      ['self time by folder', 'share', 'ms'],
      byOwner.slice(0, rows / 2).map(([owner, selfMs]) => [owner, share(selfMs), selfMs.toFixed(0)]),
    ),
  ].join('\n\n');
}
