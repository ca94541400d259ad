/** Seldom enough to leave the processor to the work. */
const WATCH_MS = 1;

/** The longest stretch between two turns of the event loop, until it is stopped. */
export function watchLoop(): { stop(): number } {
  let longestMs = 0;
  let lastMs = performance.now();
  let isOver = false;
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setTimeout(look, WATCH_MS);
  };
  setTimeout(look, WATCH_MS);
  return {
    stop() {
      isOver = true;
      look();
      return longestMs;
    },
  };
}
