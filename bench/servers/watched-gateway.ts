// The gateway as `serve` starts it, with a channel on which it reports its memory and its event loop, and with accounts
// that can be turned off: `node bench/servers/watched-gateway.ts on|off [flags of serve]`. Both are the same program in the
// same order; off replaces what `src/app/accounting.ts` creates by nothing.
import { monitorEventLoopDelay } from 'node:perf_hooks';

import type { Accounting } from '../../src/app/accounting.ts';
import { createApp } from '../../src/app.ts';
import { loadCheckedConfig } from '../../src/cli/load-config.ts';
import { tuneHeap } from '../../src/lib/memory/tune-heap.ts';
import { vitalsRequestSchema, type Vitals, type VitalsRequest } from './vitals.ts';

/** How often the event loop's delay is looked at. */
const LOOK_EVERY_MS = 1;
const NS_PER_MS = 1e6;

/** No limits, no reservations, no records. */
const NO_ACCOUNTING: Accounting = {
  ledger: {
    isLimited: () => false,
    admit: () => undefined,
    reserve: () => undefined,
    resume: (_principal, _limits, id) => ({ id, counted: [] }),
    settle: () => Promise.resolve(),
    release: () => Promise.resolve(),
  },
  rateLimiter: { enter: () => undefined, admit: () => undefined },
  takeRoom: () => undefined,
  returnRoom: () => undefined,
  store: () => Promise.resolve(),
};

const [accounts, ...args] = process.argv.slice(2);
if (accounts !== 'on' && accounts !== 'off')
  throw new Error('usage: node bench/servers/watched-gateway.ts on|off [flags]');

tuneHeap();
const delay = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
delay.enable();

const { config } = loadCheckedConfig(args, process.env);
const app = await createApp({
  config,
  env: process.env,
  ...(accounts === 'off' && { accounting: () => NO_ACCOUNTING }),
});
const { url } = await app.listen();
console.log(`listening on ${url}`);

process.on('message', (message) => {
  process.send?.(readVitals(vitalsRequestSchema.parse(message)));
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
process.once('disconnect', () => void stop());

let stopping: Promise<void> | undefined;

function stop(): Promise<void> {
  stopping ??= app.close().then(() => process.exit(0));
  return stopping;
}

function readVitals({ resets, collects }: VitalsRequest): Vitals {
  if (collects) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  const late = (ns: number): number => Math.max(0, ns / NS_PER_MS - LOOK_EVERY_MS);
  const loopDelayMs = {
    p50: late(delay.percentile(50)),
    p99: late(delay.percentile(99)),
    max: late(delay.max),
  };
  if (resets) delay.reset();
  return { rssBytes: rss, heapUsedBytes: heapUsed, externalBytes: external, handles, loopDelayMs };
}
