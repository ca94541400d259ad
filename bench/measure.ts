import { checkAnswer } from './load/check-answer.ts';
import type { LoadResult } from './load/load-job.ts';
import type { LoadGenerator, ServerProcess } from './processes.ts';
import { readCpuMs } from './process-stats.ts';
import type { BodySize } from './requests.ts';
import { median } from './statistics.ts';
import { expectAnswer, prepareCall, type Variant, type VariantId } from './variants.ts';

const WARM_UP_STEP_MS = 250;
/** After so many the optimising compiler has seen what is hot. */
const WARM_UNITS = { answers: 20_000, events: 500_000 } as const;

export interface Bench {
  readonly variants: readonly Variant[];
  readonly mock: ServerProcess;
  readonly load: LoadGenerator;
  readonly note: (line: string) => void;
}

/** One load that all its variants are measured under. */
export interface Setting {
  readonly label: string;
  /** One of the mock's model names, mock-script.ts. */
  readonly model: string;
  readonly size: BodySize;
  readonly load:
    | { readonly kind: 'closed'; readonly connections: number }
    | { readonly kind: 'open'; readonly requestsPerS: number };
  readonly durationMs: number;
  readonly variants: readonly VariantId[];
  /** The variant whose rate is 1. */
  readonly baseline: VariantId;
  /** The variant above whose latency is what others add. Default: the way without a proxy. */
  readonly addedAbove?: VariantId;
  /** What a second holds: answers, or SSE events. */
  readonly unit: 'answers' | 'events';
}

/** One variant in one round. */
interface Cell {
  readonly load: LoadResult;
  readonly perS: number;
  readonly cpu: CpuUse;
  /** For a gateway that reports it: event-loop delay, ms at p99. */
  readonly loopP99Ms?: number;
}

/** Undefined if the system does not report it. */
export interface CpuUse {
  /** CPU time of the measured process over the time that passed: 1 is a whole core. */
  readonly serverCores?: number;
  /** The same of the mock and the load generator together. */
  readonly generatorCores?: number;
  readonly serverMs?: number;
}

/** Medians over the rounds; ratios and additions are taken inside a round first. Latencies in us. */
export interface Row {
  readonly variant: VariantId;
  readonly label: string;
  readonly perS: number;
  readonly ratio: number;
  /** The same ratio by CPU time: what it would be with a core to itself. Hardly moved by what else runs on the machine. */
  readonly cpuRatio?: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly addedP50Us: number;
  readonly addedP99Us: number;
  readonly p999Us: number;
  readonly addedP999Us: number;
  /** Of the peer that is measured beside it, where there is one: its rate and its p99 are 1. */
  readonly ofPeer?: { readonly perS: number; readonly p99: number };
  readonly firstFrameP50Us: number;
  readonly addedFirstFrameP50Us: number;
  readonly addedFirstFrameP99Us: number;
  /** CPU time of the measured process for each answer or event. */
  readonly cpuUs?: number;
  readonly serverCores?: number;
  readonly generatorCores?: number;
  /** NaN for a server that does not report it. */
  readonly loopP99Ms: number;
  readonly addedLoopP99Ms: number;
  readonly bad: number;
  readonly firstFault?: string;
}

export interface SettingResult {
  readonly setting: Setting;
  readonly rows: readonly Row[];
}

/**
 * Measures every setting in rounds, the variants of a setting one after the other and in the opposite order every second round, so that
 * what else the machine does in the meantime falls on all of them.
 */
export async function measureSettings(
  bench: Bench,
  settings: readonly Setting[],
  plan: { readonly rounds: number; readonly warmUpLimitMs: number },
): Promise<readonly SettingResult[]> {
  const prepared = await Promise.all(settings.map(async (setting) => prepareSetting(bench, setting)));
  await warmUp(bench, prepared, plan.warmUpLimitMs);
  const cells = new Map<PreparedVariant, Cell[]>(
    prepared.flatMap((one) => one.variants.map((variant) => [variant, []])),
  );
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const { setting, variants } of prepared) {
      bench.note(`round ${round + 1}/${plan.rounds}: ${setting.label}`);
      const order = round % 2 === 0 ? variants : variants.toReversed();
      for (const variant of order) cells.get(variant)?.push(await measureCell(bench, setting, variant));
    }
  }
  return prepared.map(({ setting, variants }) => ({ setting, rows: summarise(setting, variants, cells) }));
}

/** A variant with its call, once checked. */
export interface PreparedVariant {
  readonly variant: Variant;
  readonly call: ReturnType<typeof prepareCall>;
  readonly expectation: ReturnType<typeof expectAnswer>;
}

interface PreparedSetting {
  readonly setting: Setting;
  readonly variants: readonly PreparedVariant[];
}

async function prepareSetting(bench: Bench, setting: Setting): Promise<PreparedSetting> {
  const variants = bench.variants.filter((variant) => setting.variants.includes(variant.id));
  return {
    setting,
    variants: await Promise.all(variants.map(async (variant) => prepareVariant(variant, setting))),
  };
}

/** Makes the call of a variant and checks that it is answered to the letter. @throws when it is not. */
export async function prepareVariant(
  variant: Variant,
  requested: { readonly model: string; readonly size: BodySize },
): Promise<PreparedVariant> {
  const call = prepareCall(variant, requested.model, requested.size);
  const frames = await checkAnswer(variant, call);
  return { variant, call, expectation: expectAnswer(variant, call, frames) };
}

/** Each server meets each kind of load before the first figure: compiled code, filled pools. */
async function warmUp(bench: Bench, prepared: readonly PreparedSetting[], limitMs: number): Promise<void> {
  const warm = new Set<string>();
  for (const { setting, variants } of prepared) {
    const gentle: Setting = { ...setting, load: { kind: 'closed', connections: 32 }, durationMs: WARM_UP_STEP_MS };
    for (const variant of variants) {
      const key = `${variant.variant.id} ${setting.model} ${setting.size}`;
      if (warm.has(key)) continue;
      warm.add(key);
      bench.note(`warming up: ${variant.variant.label}, ${setting.label}`);
      let units = 0;
      for (let passedMs = 0; passedMs < limitMs && units < WARM_UNITS[setting.unit]; passedMs += WARM_UP_STEP_MS) {
        units += countUnits(setting, (await measureCell(bench, gentle, variant)).load);
      }
    }
  }
}

async function measureCell(bench: Bench, setting: Setting, prepared: PreparedVariant): Promise<Cell> {
  const { call, expectation, variant } = prepared;
  const common = {
    host: call.host,
    port: call.port,
    request: call.request,
    expectation,
    durationMs: setting.durationMs,
  };
  await variant.watched?.readVitals({ resets: true, collects: false });
  const { result: load, cpu } = await watchCpu(bench, variant.server, () =>
    bench.load.run({ ...common, ...setting.load }),
  );
  const vitals = await variant.watched?.readVitals({ resets: false, collects: false });
  return {
    load,
    perS: (countUnits(setting, load) * 1000) / load.elapsedMs,
    cpu,
    ...(vitals !== undefined && { loopP99Ms: vitals.loopDelayMs.p99 }),
  };
}

/** Runs a job and returns the CPU time of both sides. */
export async function watchCpu(
  bench: Bench,
  server: ServerProcess,
  run: () => Promise<LoadResult>,
): Promise<{ readonly result: LoadResult; readonly cpu: CpuUse }> {
  const generators = [bench.mock.pid, bench.load.pid];
  const generatorBefore = sumCpuMs(generators);
  const serverBefore = sumCpuMs([server.pid]);
  const beginMs = performance.now();
  const result = await run();
  const passedMs = performance.now() - beginMs;
  const serverMs = sumCpuMs([server.pid]) - serverBefore;
  const generatorMs = sumCpuMs(generators) - generatorBefore;
  if (Number.isNaN(serverMs + generatorMs)) return { result, cpu: {} };
  return { result, cpu: { serverMs, serverCores: serverMs / passedMs, generatorCores: generatorMs / passedMs } };
}

/** NaN if the system does not report it. */
function sumCpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (readCpuMs(pid) ?? Number.NaN), 0);
}

/** Answers or events, as the setting counts. */
function countUnits(setting: Setting, load: LoadResult): number {
  return setting.unit === 'answers' ? load.completed : load.frames;
}

/** CPU time of the measured process for each answer or event, those after the time was up too: the process has worked for them. */
function readCpuUs(setting: Setting, cell: Cell): number {
  const { completed, frames, late } = cell.load;
  const units = setting.unit === 'answers' ? completed + late.answers : frames + late.frames;
  return ((cell.cpu.serverMs ?? Number.NaN) * 1000) / units;
}

function summarise(
  setting: Setting,
  variants: readonly PreparedVariant[],
  cells: ReadonlyMap<PreparedVariant, readonly Cell[]>,
): readonly Row[] {
  const cellsOf = (id: VariantId): readonly Cell[] => {
    const found = variants.find(({ variant }) => variant.id === id);
    return found === undefined ? [] : (cells.get(found) ?? []);
  };
  const baseline = cellsOf(setting.baseline);
  const above = cellsOf(setting.addedAbove ?? 'direct');
  const peer = cellsOf('portkey');
  const cpuUs = (cell: Cell): number => readCpuUs(setting, cell);
  const loopP99Ms = (cell: Cell): number => cell.loopP99Ms ?? Number.NaN;
  return variants.map(({ variant }) => {
    const own = cellsOf(variant.id);
    const of = (read: (cell: Cell) => number): number => median(own.map(read));
    const added = (read: (cell: Cell) => number): number =>
      median(own.map((cell, round) => read(cell) - readAt(above, round, read)));
    const over = (others: readonly Cell[], read: (cell: Cell) => number): number =>
      median(own.map((cell, round) => read(cell) / readAt(others, round, read)));
    const firstFault = own.find((cell) => cell.load.firstFault !== undefined)?.load.firstFault;
    const hasCpu = own.every((cell) => cell.cpu.serverMs !== undefined);
    return {
      variant: variant.id,
      label: variant.label,
      perS: of((cell) => cell.perS),
      ratio: over(baseline, (cell) => cell.perS),
      p50Us: of((cell) => cell.load.latencyUs.p50),
      p99Us: of((cell) => cell.load.latencyUs.p99),
      addedP50Us: added((cell) => cell.load.latencyUs.p50),
      addedP99Us: added((cell) => cell.load.latencyUs.p99),
      p999Us: of((cell) => cell.load.latencyUs.p999),
      addedP999Us: added((cell) => cell.load.latencyUs.p999),
      ...(peer.length > 0 && {
        ofPeer: {
          perS: over(peer, (cell) => cell.perS),
          p99: over(peer, (cell) => cell.load.latencyUs.p99),
        },
      }),
      firstFrameP50Us: of((cell) => cell.load.firstFrameUs.p50),
      addedFirstFrameP50Us: added((cell) => cell.load.firstFrameUs.p50),
      addedFirstFrameP99Us: added((cell) => cell.load.firstFrameUs.p99),
      ...(hasCpu && {
        cpuUs: of(cpuUs),
        cpuRatio: median(own.map((cell, round) => readAt(baseline, round, cpuUs) / cpuUs(cell))),
        serverCores: of((cell) => cell.cpu.serverCores ?? 0),
        generatorCores: of((cell) => cell.cpu.generatorCores ?? 0),
      }),
      loopP99Ms: of(loopP99Ms),
      addedLoopP99Ms: added(loopP99Ms),
      bad: own.reduce((sum, cell) => sum + cell.load.bad, 0),
      ...(firstFault !== undefined && { firstFault }),
    };
  });
}

function readAt(cells: readonly Cell[], round: number, read: (cell: Cell) => number): number {
  const cell = cells[round];
  return cell === undefined ? Number.NaN : read(cell);
}
