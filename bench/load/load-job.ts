// Messages between run.ts and the load generator, over the IPC channel between the two processes.
import * as z from 'zod';

const expectation = z.object({
  kind: z.enum(['whole', 'stream']),
  /** A whole answer must hold it anywhere, a stream in its last 64 bytes. */
  marker: z.string(),
  /** SSE frames that each complete stream must have. */
  frames: z.number(),
});

const common = {
  host: z.string(),
  port: z.number(),
  /** One whole HTTP request, ready to be written. */
  request: z.string(),
  expectation,
};

/** Each connection sends its next request when its answer is complete. */
const closedLoop = z.object({ ...common, kind: z.literal('closed'), connections: z.number(), durationMs: z.number() });

/** Requests leave at a fixed rate whether or not earlier ones are answered; latency counts from the scheduled time. */
const openLoop = z.object({ ...common, kind: z.literal('open'), requestsPerS: z.number(), durationMs: z.number() });

/** Each stream is read once, all at the same time; their starts are spread over `rampMs`. */
const paced = z.object({
  ...common,
  kind: z.literal('paced'),
  streams: z.number(),
  rampMs: z.number(),
  /** A longer silence between two events of a stream is a stall. */
  stallMs: z.number(),
  /** The measurement ends here, complete or not. */
  limitMs: z.number(),
});

export const loadJobSchema = z.discriminatedUnion('kind', [closedLoop, openLoop, paced]);

const quantiles = z.object({
  count: z.number(),
  p50: z.number(),
  p99: z.number(),
  p999: z.number(),
  max: z.number(),
});

export const loadResultSchema = z.object({
  /** Correct answers that were complete before the time was up. */
  completed: z.number(),
  /** Answers that were wrong, cut or missing, whenever they came. */
  bad: z.number(),
  firstFault: z.string().optional(),
  elapsedMs: z.number(),
  /** SSE frames that arrived before the time was up. */
  frames: z.number(),
  /** What a closed loop still had under way when the time was up, and got after it. */
  late: z.object({ answers: z.number(), frames: z.number() }),
  /** From sending (open loop: from the scheduled time) to the last byte. */
  latencyUs: quantiles,
  /** From sending to the first frame of a stream. */
  firstFrameUs: quantiles,
  /** Open loop: how late the generator itself sent. */
  lateUs: quantiles,
  /** Paced: silences between two events of one stream. */
  gapMs: quantiles,
  stalls: z.number(),
});

export type Expectation = Readonly<z.infer<typeof expectation>>;
export type ClosedLoopJob = Readonly<z.infer<typeof closedLoop>>;
export type OpenLoopJob = Readonly<z.infer<typeof openLoop>>;
export type PacedJob = Readonly<z.infer<typeof paced>>;
export type LoadJob = ClosedLoopJob | OpenLoopJob | PacedJob;
export type LoadResult = Readonly<z.infer<typeof loadResultSchema>>;
