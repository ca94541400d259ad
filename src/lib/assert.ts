/** Stops a request at a broken assumption of ours. Never for bad input: that is a `GatewayError`. */
export function assert(condition: unknown, assumption: string): asserts condition {
  if (!condition) throw new Error(`Broken assumption: ${assumption}`);
}

/** Marks a place that no value can reach; the types prove it. */
export function unreachable(value: never): never {
  throw new Error(`Broken assumption: unexpected ${JSON.stringify(value)}`);
}
