import type { IncomingMessage } from 'node:http';

/** What is read and thrown away of a body after its request was answered. */
export interface LingerLimits {
  /** Longest pause between two pieces. */
  readonly idleMs: number;
  readonly totalMs: number;
  readonly bytesMax: number;
}

/** @source nginx lingering_timeout and lingering_time, whose defaults these are */
const IDLE_MS = 5_000;
const TOTAL_MS = 30_000;
/** Twice the largest body that is usually taken. */
const BYTES_MAX = 67_108_864;
const USUAL: LingerLimits = { idleMs: IDLE_MS, totalMs: TOTAL_MS, bytesMax: BYTES_MAX };

/**
 * Reads what is left of the body of a request that was answered, within limits. Many clients read an answer only after they
 * have sent everything, and a socket that is closed with unread bytes resets the connection, which throws the answer away.
 * @param ended is called once: whether the body came to its end
 * @source RFC 9112, 9.6 "Tear-down"
 */
export function dropRest(request: IncomingMessage, ended: (isWhole: boolean) => void, limits = USUAL): void {
  let bytes = 0;
  let isOver = false;
  const stop = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(idle);
    clearTimeout(total);
    request.off('data', count).off('end', stop).off('close', stop);
    ended(request.complete);
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > limits.bytesMax) stop();
    else idle.refresh();
  };
  // A process that was busy for so long finds what came meanwhile in its next turn.
  const lookAgain = (): void => {
    const before = bytes;
    setImmediate(() => (bytes === before ? stop() : idle.refresh()));
  };
  const idle = setTimeout(lookAgain, limits.idleMs);
  const total = setTimeout(stop, limits.totalMs);
  request.on('data', count).once('end', stop).once('close', stop).resume();
}
