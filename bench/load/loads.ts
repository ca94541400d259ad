import { openConnections, type AnswerHandler, type Connection } from './connection.ts';
import type { ClosedLoopJob, LoadResult, OpenLoopJob, PacedJob } from './load-job.ts';
import { Tally } from './tally.ts';

/** After the time is up, answers on their way may still end; then their connections are cut. */
const DRAIN_MS = 10_000;
const OPEN_LOOP_CONNECTIONS = 128;
const OPEN_LOOP_QUEUE_MAX = 10_000;

export async function runClosedLoop(job: ClosedLoopJob): Promise<LoadResult> {
  const tally = new Tally({ measuresGaps: false });
  const { promise: drained, resolve: finish } = Promise.withResolvers<void>();
  let deadlineMs = Infinity;
  let running = job.connections;
  const leave = (): void => {
    running -= 1;
    if (running === 0) finish();
  };
  const connections = await openConnections(job, job.connections, {
    onFrames(connection, count, nowMs) {
      if (nowMs <= deadlineMs) tally.addFrames(connection, count, nowMs);
      else tally.addLate({ frames: count });
    },
    onAnswer(connection, nowMs) {
      if (nowMs <= deadlineMs || connection.reader.fault !== undefined) tally.addAnswer(connection, nowMs);
      else tally.addLate({ answers: 1 });
      if (nowMs < deadlineMs) connection.send(nowMs);
      else leave();
    },
    onLost(connection, reason) {
      if (!connection.busy) return;
      tally.addFault(reason);
      leave();
    },
  });
  const beginMs = performance.now();
  deadlineMs = beginMs + job.durationMs;
  for (const connection of connections) connection.send(performance.now());
  await finishWithin(drained, job.durationMs + DRAIN_MS);
  closeAll(connections, tally);
  return tally.result(job.durationMs);
}

export async function runOpenLoop(job: OpenLoopJob): Promise<LoadResult> {
  const tally = new Tally({ measuresGaps: false });
  const { promise: drained, resolve: finish } = Promise.withResolvers<void>();
  const intervalMs = 1000 / job.requestsPerS;
  const requests = Math.round(job.durationMs / intervalMs);
  let settled = 0;
  const free: Connection[] = [];
  const waiting: number[] = [];
  const settle = (): void => {
    settled += 1;
    if (settled === requests) finish();
  };
  const connections = await openConnections(job, OPEN_LOOP_CONNECTIONS, {
    onFrames: (connection, count, nowMs) => tally.addFrames(connection, count, nowMs),
    onAnswer(connection, nowMs) {
      tally.addAnswer(connection, nowMs);
      const dueAtMs = waiting.shift();
      if (dueAtMs === undefined) free.push(connection);
      else connection.send(dueAtMs);
      settle();
    },
    onLost(connection, reason) {
      const index = free.indexOf(connection);
      if (index >= 0) free.splice(index, 1);
      if (!connection.busy) return;
      tally.addFault(reason);
      settle();
    },
  });
  free.push(...connections);
  const beginMs = performance.now();
  let sent = 0;
  const send = (): void => {
    for (let nowMs = performance.now(); sent < requests; sent += 1) {
      const dueAtMs = beginMs + sent * intervalMs;
      if (dueAtMs > nowMs) break;
      nowMs = performance.now();
      tally.lateUs.add((nowMs - dueAtMs) * 1000);
      const connection = free.pop();
      if (connection !== undefined) connection.send(dueAtMs);
      else if (waiting.length < OPEN_LOOP_QUEUE_MAX) waiting.push(dueAtMs);
      else {
        tally.addFault('the queue of the generator is full');
        settle();
      }
    }
    if (sent === requests) return;
    // A timer may be a millisecond late, so the last stretch is waited for in turns of the event loop.
    const restMs = beginMs + sent * intervalMs - performance.now();
    if (restMs > 1.3) setTimeout(send, 1);
    else setImmediate(send);
  };
  send();
  await finishWithin(drained, job.durationMs + DRAIN_MS);
  closeAll(connections, tally);
  for (let missing = waiting.length; missing > 0; missing -= 1) tally.addFault('never sent');
  return tally.result(job.durationMs);
}

export async function runPaced(job: PacedJob): Promise<LoadResult> {
  const tally = new Tally({ measuresGaps: true });
  const { promise: drained, resolve: finish } = Promise.withResolvers<void>();
  let running = job.streams;
  const leave = (): void => {
    running -= 1;
    if (running === 0) finish();
  };
  const handler: AnswerHandler = {
    onFrames(connection, count, nowMs) {
      tally.addFrames(connection, count, nowMs);
      if (connection.lastFrameAtMs === 0) return;
      const gapMs = nowMs - connection.lastFrameAtMs;
      tally.gapMs?.add(gapMs);
      if (gapMs > job.stallMs) tally.stalls += 1;
    },
    onAnswer(connection, nowMs) {
      tally.addAnswer(connection, nowMs);
      leave();
    },
    onLost(connection, reason) {
      if (!connection.busy) return;
      tally.addFault(reason);
      leave();
    },
  };
  const connections = await openConnections(job, job.streams, handler);
  const beginMs = performance.now();
  let started = 0;
  const start = (): void => {
    const due = Math.ceil(((performance.now() - beginMs) / job.rampMs) * job.streams);
    for (; started < Math.min(due, job.streams); started += 1) connections[started]?.send(performance.now());
    if (started < job.streams) setTimeout(start, 1);
  };
  start();
  await finishWithin(drained, job.limitMs);
  const elapsedMs = performance.now() - beginMs;
  closeAll(connections, tally);
  return tally.result(elapsedMs);
}

async function finishWithin(drained: Promise<void>, limitMs: number): Promise<void> {
  const { promise: timeUp, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([drained, timeUp]);
  clearTimeout(timer);
}

function closeAll(connections: readonly Connection[], tally: Tally): void {
  for (const connection of connections) {
    if (connection.busy) tally.addFault('the answer was still not complete at the end');
    connection.close();
  }
}
