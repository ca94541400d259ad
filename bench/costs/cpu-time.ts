import { median } from '../statistics.ts';

const ROUNDS = 15;
const WARM_UP_MS = 400;
const ROUND_MS = 20;

/** Processor time of one call, us: the median of rounds, after the compiler has seen it. */
export function cpuTimeOf(run: () => unknown): number {
  const untilMs = performance.now() + WARM_UP_MS;
  let calls = 0;
  while (performance.now() < untilMs) {
    run();
    calls++;
  }
  const batch = Math.max(1, Math.round((calls * ROUND_MS) / WARM_UP_MS));
  const rounds = Array.from({ length: ROUNDS }, () => {
    const begin = process.cpuUsage();
    for (let call = 0; call < batch; call++) run();
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / batch;
  });
  return median(rounds);
}
