// Messages of a watched gateway, over the IPC channel to the process that measures it.
import * as z from 'zod';

export const vitalsRequestSchema = z.object({
  /** Whether the event loop's delay is counted anew from here on. */
  resets: z.boolean(),
  /** Whether garbage is collected first, so that what is left is what is held. Takes `--expose-gc`. */
  collects: z.boolean(),
});

export const vitalsSchema = z.object({
  rssBytes: z.number(),
  heapUsedBytes: z.number(),
  /** Memory of objects that lies outside of the heap: buffers above all. */
  externalBytes: z.number(),
  /** Sockets, servers, timers, threads and the like that are open, by their kinds. */
  handles: z.record(z.string(), z.number()),
  /** How late the event loop came to its timer, since it was last reset. */
  loopDelayMs: z.object({ p50: z.number(), p99: z.number(), max: z.number() }),
});

export type VitalsRequest = Readonly<z.infer<typeof vitalsRequestSchema>>;
export type Vitals = Readonly<z.infer<typeof vitalsSchema>>;
