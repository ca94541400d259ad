/** Makes the beginning of all keys in Redis. The braces keep all keys in one slot of a cluster, as scripts need it. */
export function keyPrefix(name: string): string {
  return `{${name}}:`;
}
