import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';

/** What a running gateway takes over from a configuration that is read again. */
const TAKEN_OVER: ReadonlySet<string> = new Set<keyof Config>([
  'betaFlags',
  'models',
  'passThrough',
  'aliases',
  'resolveBareNames',
  'scores',
  'path',
  'origins',
]);

/** Members in which two configurations differ and that only a start reads. */
export function needsRestart(running: Config, next: Config): readonly string[] {
  const members = new Set([...Object.keys(running), ...Object.keys(next)]);
  const [before, after] = [new Map(Object.entries(running)), new Map(Object.entries(next))];
  return [...members].filter(
    (member) => !TAKEN_OVER.has(member) && !isDeepStrictEqual(before.get(member), after.get(member)),
  );
}

/** The configuration that a running gateway goes by. */
export interface ConfigWatch {
  current(): Config;
  /** Members that changed and that only a start reads. */
  waiting(): readonly string[];
  /** A configuration was read again. @returns what waits for a start */
  take(next: Config): readonly string[];
}

export function watchConfig(started: Config): ConfigWatch {
  let current = started;
  let waiting: readonly string[] = [];
  return {
    current: () => current,
    waiting: () => waiting,
    take(next) {
      current = takeOver(started, next);
      waiting = needsRestart(started, next);
      return waiting;
    },
  };
}

function takeOver(running: Config, next: Config): Config {
  const { betaFlags, models, passThrough, aliases, resolveBareNames, scores, path, origins } = next;
  return {
    ...running,
    betaFlags,
    models,
    passThrough,
    aliases,
    resolveBareNames,
    scores,
    origins,
    ...(path !== undefined && { path }),
  };
}
