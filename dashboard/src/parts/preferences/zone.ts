import { useSyncExternalStore } from 'react';

export type Zone = 'utc' | 'local';
const NAME = 'gateway.zone';
const listeners = new Set<() => void>();
let zone: Zone = 'utc';

/** Before the first frame. */
export function loadZone(): void {
  zone = localStorage.getItem(NAME) === 'local' ? 'local' : 'utc';
}

/** In which zone moments are shown. Days of sums and limits are those of UTC whatever it is. */
export function readZone(): Zone {
  return zone;
}

export function setZone(next: Zone): void {
  zone = next;
  if (next === 'utc') localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, next);
  for (const listener of listeners) listener();
}

export function useZone(): Zone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readZone);
}

/** For the heading of a column: `UTC`, `local`. */
export function nameOfZone(of: Zone = zone): string {
  return of === 'utc' ? 'UTC' : 'local';
}
