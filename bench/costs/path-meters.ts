// What a request to a gateway in this process runs through, by the place in its sources. The caller, in this folder, and the sandbox,
// which is a server of its own, are in the process, too: they do not count.
import { createHook } from 'node:async_hooks';
import { Session, type HeapProfiler } from 'node:inspector/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import type { PathCaller } from './path-caller.ts';

// `--source FOLDER`: another version's sources, to compare commits with one tool.
const sourceAt = process.argv.indexOf('--source');
export const SOURCE = path.resolve(
  (sourceAt < 0 ? undefined : process.argv[sourceAt + 1]) ?? path.join(import.meta.dirname, '../../src'),
);
const SOURCE_URL = `${pathToFileURL(SOURCE).href}/`;
const SANDBOX_URL = `${SOURCE_URL}sandbox/`;
const OWN_URL = `${pathToFileURL(import.meta.dirname).href}/`;

/** Batches of records and counters that follow an answer are written by then. */
const SETTLED_MS = 1_200;
/** A record is stored by then, and nothing that was read is old. */
const STORED_MS = 300;
const COUNTED_REQUESTS = 3;
const PROMISE_REQUESTS = 101;
const STACK_FRAMES = 40;
const SAMPLED_REQUESTS = 3_000;
const SAMPLE_BYTES = 1_024;
/** What Node and libraries do outside of a call from `src`. */
const ELSEWHERE = 'elsewhere';

/** How much of something one request has, by place. */
export type Places = ReadonlyMap<string, number>;

export interface RunFunction {
  /** Its place in the sources. */
  readonly id: string;
  /** Below `src`. */
  readonly file: string;
  readonly name: string;
  readonly calls: number;
}

export async function repeat(caller: PathCaller, count: number): Promise<void> {
  for (let asked = 0; asked < count; asked++) await caller.ask();
}

async function withSession<Value>(use: (session: Session) => Promise<Value>): Promise<Value> {
  const session = new Session();
  session.connect();
  try {
    return await use(session);
  } finally {
    session.disconnect();
  }
}

/**
 * The functions of one request, from its first byte to what is stored behind its answer: V8's precise coverage. Of several
 * requests the one with the fewest, since now and then something is read again meanwhile. What runs by itself does not count.
 */
export async function countFunctions(caller: PathCaller): Promise<readonly RunFunction[]> {
  return withSession(async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await sleep(SETTLED_MS);
    await takeFunctions(session);
    await sleep(SETTLED_MS);
    const background = new Set((await takeFunctions(session)).map(({ id }) => id));
    let fewest: readonly RunFunction[] | undefined;
    for (let round = 0; round < COUNTED_REQUESTS; round++) {
      // What is read again every few seconds is fresh then.
      await caller.ask();
      await sleep(STORED_MS);
      await takeFunctions(session);
      await caller.ask();
      await sleep(SETTLED_MS);
      const ran = await takeFunctions(session);
      if (fewest === undefined || ran.length < fewest.length) fewest = ran;
    }
    await session.post('Profiler.stopPreciseCoverage');
    return fewest?.filter(({ id }) => !background.has(id)) ?? [];
  });
}

/** What ran since the last call. */
async function takeFunctions(session: Session): Promise<readonly RunFunction[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith(SOURCE_URL) && !url.startsWith(SANDBOX_URL))
    .flatMap(({ url, functions }) =>
      functions.map(({ functionName, ranges }) => ({
        id: `${url}:${ranges[0]?.startOffset}`,
        file: url.slice(SOURCE_URL.length),
        name: functionName || '(anonymous)',
        calls: ranges[0]?.count ?? 0,
      })),
    )
    .filter(({ calls }) => calls > 0);
}

/** The promises of one request: of many the one in the middle, since now and then something is read again meanwhile. */
export async function countPromises(caller: PathCaller): Promise<Places> {
  let stacks: string[] = [];
  const hook = createHook({
    init(_id, type) {
      if (type !== 'PROMISE') return;
      const holder: { stack?: string } = {};
      Error.captureStackTrace(holder);
      stacks.push(holder.stack ?? '');
    },
  });
  const limitBefore = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_FRAMES;
  hook.enable();
  const requests: (readonly string[])[] = [];
  for (let asked = 0; asked < PROMISE_REQUESTS; asked++) {
    await caller.ask();
    requests.push(stacks);
    stacks = [];
  }
  hook.disable();
  Error.stackTraceLimit = limitBefore;
  const middle = requests.toSorted((one, other) => one.length - other.length)[PROMISE_REQUESTS >> 1] ?? [];
  const places = new Map<string, number>();
  for (const stack of middle) add(places, placeOfStack(stack), 1);
  return places;
}

/** @returns `undefined`: it is the sandbox's or the caller's */
function placeOfStack(stack: string): string | undefined {
  // Behind the message and the hook itself.
  const lines = stack.split('\n').slice(2);
  const line = lines.find((one) => one.includes(SOURCE_URL) || one.includes(OWN_URL));
  if (line === undefined) return ELSEWHERE;
  const found = /at (?:async )?(?:(?<name>.+) \()?(?<file>file:.+?):(?<row>\d+):\d+\)?$/.exec(line)?.groups;
  return placeOf(found?.['file'] ?? '', found?.['name'] ?? '', Number(found?.['row']));
}

/** The bytes that one request allocates, as V8 samples them, also of what was collected since. */
export async function sampleBytes(caller: PathCaller): Promise<Places> {
  return withSession(async (session) => {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLE_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await repeat(caller, SAMPLED_REQUESTS);
    const { profile } = await session.post('HeapProfiler.stopSampling');
    const places = new Map<string, number>();
    addBytes(profile.head, ELSEWHERE, places);
    return places;
  });
}

/** @param caller the place that called the node; `undefined`: it is the sandbox's or the caller's */
function addBytes(
  { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode,
  caller: string | undefined,
  places: Map<string, number>,
): void {
  const { url, functionName, lineNumber } = callFrame;
  const isOurs = url.startsWith(SOURCE_URL) || url.startsWith(OWN_URL);
  const place = isOurs ? placeOf(url, functionName, lineNumber + 1) : caller;
  add(places, place, selfSize / SAMPLED_REQUESTS);
  for (const child of children) addBytes(child, place, places);
}

function placeOf(url: string, name: string, row: number): string | undefined {
  if (!url.startsWith(SOURCE_URL) || url.startsWith(SANDBOX_URL)) return undefined;
  return `${url.slice(SOURCE_URL.length)}:${row} ${name || '(anonymous)'}`;
}

function add(places: Map<string, number>, place: string | undefined, count: number): void {
  if (place !== undefined) places.set(place, (places.get(place) ?? 0) + count);
}

/** The time of the main thread that one request takes, us: with that of the sandbox and the caller. */
export async function timeRequests(caller: PathCaller): Promise<number> {
  await repeat(caller, SAMPLED_REQUESTS);
  const from = process.threadCpuUsage();
  await repeat(caller, SAMPLED_REQUESTS);
  const { user, system } = process.threadCpuUsage(from);
  return (user + system) / SAMPLED_REQUESTS;
}
