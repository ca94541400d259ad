/** One call that drew a part of the page. */
export interface Call {
  readonly method: string;
  /** Below the API's root, with its query: `/keys?offset=0`. */
  readonly path: string;
  readonly body: string | undefined;
  readonly status: number;
}

const CALLS_MAX = 30;
let calls: readonly Call[] = [];
const listeners = new Set<() => void>();

/** Each call once: what is read again replaces what it was. */
export function recordCall(call: Call): void {
  const same = (other: Call): boolean =>
    other.method === call.method && other.path === call.path && other.body === call.body;
  calls = [...calls.filter((other) => !same(other)), call].slice(-CALLS_MAX);
  for (const listener of listeners) listener();
}

/** A new page begins without the calls of the last one. */
export function forgetCalls(): void {
  calls = [];
  for (const listener of listeners) listener();
}

export function readCalls(): readonly Call[] {
  return calls;
}

export function subscribeToCalls(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
