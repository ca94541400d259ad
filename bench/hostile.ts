import { ATTACKS, type Attack } from '../tests/hostile/attacks.ts';
import { startStage, type Launchers } from '../tests/hostile/stage.ts';
import { isPinned, pinThisProcess } from './processes.ts';
import { Samples } from './statistics.ts';

/** What a well-behaved caller notices of an attack on a gateway under a limit of memory. */
export interface HostileResult {
  readonly attack: string;
  /** Answered with 200 beside the attack. */
  readonly requests: number;
  readonly bad: number;
  /** Of the same caller before the attack. */
  readonly quietP99Ms: number;
  readonly p99Ms: number;
  /** The longest stretch between two turns of the event loop. */
  readonly quietGapMs: number;
  readonly gapMs: number;
  /** What the gateway worked meanwhile, as a part of one core. */
  readonly cpuShare: number;
  /** The most that the gateway used at a time. */
  readonly peakMb: number;
}

/** The smallest limit of `npm run test:hostile`. */
const LIMIT_MB = 512;

export interface HostileOptions {
  /** How long the well-behaved caller is alone first. */
  readonly quietMs: number;
  /** An attack that is not over by then is ended. */
  readonly attackMs: number;
  readonly note: (line: string) => void;
}

/**
 * The gateway has a core, and the well-behaved caller the other one, before attackers and upstream: what is left of the
 * figures is the gateway's.
 */
const LAUNCHERS: Launchers = isPinned
  ? { gateway: ['taskset', '-c', '0'], load: ['taskset', '-c', '1', 'nice', '-n', '10'] }
  : { gateway: [], load: [] };

/** The attacks of `npm run test:hostile`, each on a gateway of its own. */
export async function measureHostile(options: HostileOptions): Promise<readonly HostileResult[]> {
  const results: HostileResult[] = [];
  const unpin = pinThisProcess();
  for (const attack of ATTACKS) {
    options.note(`hostile, ${attack.name}`);
    results.push(await measureAttack(attack, options));
  }
  unpin();
  return results;
}

async function measureAttack(attack: Attack, { quietMs, attackMs }: HostileOptions): Promise<HostileResult> {
  const stage = await startStage(LIMIT_MB, attack, LAUNCHERS);
  try {
    // Vitals of the start are discarded.
    await stage.readVitals();
    const quiet = await stage.quiet(quietMs);
    const before = await stage.readVitals();
    const startedMs = performance.now();
    const { good, peakMb } = await stage.run(attack, attackMs);
    const tookMs = performance.now() - startedMs;
    const ended = stage.gateway.ended();
    if (ended !== undefined) throw new Error(`The gateway did not survive ${attack.name}: ${ended}`);
    const after = await stage.readVitals();
    return {
      attack: attack.name,
      requests: good.latenciesMs.length,
      bad: good.failures.length + quiet.failures.length,
      quietP99Ms: p99Of(quiet.latenciesMs),
      p99Ms: p99Of(good.latenciesMs),
      quietGapMs: before.longestGapMs,
      gapMs: after.longestGapMs,
      cpuShare: (after.cpuMs - before.cpuMs) / tookMs,
      peakMb,
    };
  } finally {
    await stage.close();
  }
}

function p99Of(latenciesMs: readonly number[]): number {
  const samples = new Samples(latenciesMs.length);
  for (const ms of latenciesMs) samples.add(ms);
  return samples.quantiles().p99;
}
