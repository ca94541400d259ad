/** Sets a member and forgets the oldest ones beyond the bound. Setting a member again makes it the newest. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= sizeMax) return;
    map.delete(oldest);
  }
}
