/** What is to happen at which virtual time, soonest first: a binary heap. */
export interface EventQueue {
  at(ms: number, happen: () => void): void;
  /** Lets the next one happen. @returns its time, or `undefined` when nothing is left */
  next(): number | undefined;
}

interface Entry {
  readonly ms: number;
  /** Of two at one time the one that was planned first comes first: a run is the same on every machine. */
  readonly order: number;
  readonly happen: () => void;
}

export function createEventQueue(advance: (ms: number) => void): EventQueue {
  const heap: Entry[] = [];
  let planned = 0;

  function isBefore(left: Entry | undefined, right: Entry | undefined): boolean {
    if (left === undefined || right === undefined) return false;
    return left.ms < right.ms || (left.ms === right.ms && left.order < right.order);
  }

  function swap(left: number, right: number): void {
    const [one, other] = [heap[left], heap[right]];
    if (one === undefined || other === undefined) return;
    heap[left] = other;
    heap[right] = one;
  }

  return {
    at(ms, happen) {
      let at = heap.push({ ms, order: planned++, happen }) - 1;
      for (let parent = (at - 1) >> 1; at > 0 && isBefore(heap[at], heap[parent]); parent = (at - 1) >> 1) {
        swap(at, parent);
        at = parent;
      }
    },
    next() {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (heap.length > 0) heap[0] = last;
      for (let at = 0; ;) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        const least = isBefore(heap[right], heap[left]) ? right : left;
        if (!isBefore(heap[least], heap[at])) break;
        swap(at, least);
        at = least;
      }
      advance(first.ms);
      first.happen();
      return first.ms;
    },
  };
}
