/** A limit is counted in this number of parts, one after the other. */
const PARTS = 10;

/**
 * Rejects when a promise takes too long. Time in which this process was busy or suspended hardly counts, because it then
 * reads late what arrived in time: the time between two parts counts as one part, however long it was, and what has
 * arrived is read before the rejection. The promise itself continues.
 * @throws Error when it takes longer; otherwise what the promise was rejected with
 */
export async function withTimeout<Value>(promise: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => reject(new Error(`No response within ${limitMs} ms.`));
    const count = (left: number): void => {
      // The event loop reads sockets after its timers and before immediates.
      if (left === 0) setImmediate(giveUp);
      else timer = setTimeout(count, Math.ceil(limitMs / PARTS), left - 1);
    };
    count(PARTS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
