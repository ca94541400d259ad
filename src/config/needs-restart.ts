import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';

/** What a running gateway takes over from a configuration that is read again. */
const TAKEN_OVER: ReadonlySet<string> = new Set<keyof Config>([
  'betaFlags',
  'models',
  'passThrough',
  'aliases',
  'resolveBareNames',
  'path',
]);

/** Members in which two configurations differ and that only a start reads. */
export function needsRestart(running: Config, next: Config): readonly string[] {
  const members = new Set([...Object.keys(running), ...Object.keys(next)]);
  const [before, after] = [new Map(Object.entries(running)), new Map(Object.entries(next))];
  return [...members].filter(
    (member) => !TAKEN_OVER.has(member) && !isDeepStrictEqual(before.get(member), after.get(member)),
  );
}
