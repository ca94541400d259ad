/** A limit is counted in so many parts, one after the other. */
const PARTS = 10;

/**
 * What a promise gives, unless that takes too long by no fault of ours. A process that is busy, or that the machine lets
 * wait, reads late what came in time: whatever lies between two parts of the limit counts as one part, and what has come
 * is read before anybody gives up. The promise itself goes on.
 * @throws Error when it takes longer, or what the promise was rejected with
 */
export async function withinTime<Value>(promise: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => reject(new Error(`No answer within ${limitMs} ms.`));
    const count = (left: number): void => {
      // The loop reads what has come after its timers and before what is immediate.
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
