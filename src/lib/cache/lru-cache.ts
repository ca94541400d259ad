import { LRUCache } from 'lru-cache';

/** A cache that drops the least recently used entry beyond the bound. `get` and `set` count as use, `peek` does not. */
export function createLruCache<Key extends {}, Value extends {}>(entriesMax: number): LRUCache<Key, Value> {
  // Bounded by size: with `max` the library allocates the room for all entries at once, some 50 bytes for each.
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}

/** All entries, the least recently used first. The library's own `rentries` loses their types. */
export function entriesOf<Key extends {}, Value extends {}>(cache: LRUCache<Key, Value>): [key: Key, value: Value][] {
  const entries: [Key, Value][] = [];
  cache.rforEach((value, key) => entries.push([key, value]));
  return entries;
}
