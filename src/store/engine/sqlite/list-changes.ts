import type { SettledValue } from './protocol.ts';

/**
 * A list as its differences from the one before it: its length, then place and value in turn. Records of one batch have
 * most of their values in common, and both threads pay for every value that is sent.
 */
export type Changes = readonly SettledValue[];

/** Takes lists of JSON values only. */
export function encodeChanges(before: readonly unknown[], list: readonly unknown[]): readonly unknown[] {
  const changes: unknown[] = [list.length];
  for (let place = 0; place < list.length; place++)
    if (place >= before.length || list[place] !== before[place]) changes.push(place, list[place]);
  return changes;
}

export function decodeChanges(before: readonly SettledValue[], changes: Changes): readonly SettledValue[] {
  const list = before.slice(0, Number(changes[0]));
  for (let at = 1; at < changes.length; at += 2) list[Number(changes[at])] = changes[at + 1] ?? null;
  return list;
}
