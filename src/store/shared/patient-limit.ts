/** A timer that fires so late says that this process was busy, not that anybody else was slow. */
const LATE_MS = 25;

/**
 * What a promise gives, unless that takes too long by no fault of ours: whoever was busy when the time was over reads first
 * what has come meanwhile, and waits once more. The promise itself goes on.
 * @throws Error when it takes longer, or what the promise was rejected with
 */
export async function withinPatientLimit<Value>(promise: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => reject(new Error(`No answer within ${limitMs} ms.`));
    const startedMs = performance.now();
    timer = setTimeout(() => {
      const lateMs = performance.now() - startedMs - limitMs;
      if (lateMs < LATE_MS) giveUp();
      else timer = setTimeout(giveUp, limitMs);
    }, limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
