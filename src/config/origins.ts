import { formatPath, type ConfigDocument, type Path } from './document.ts';

/**
 * Where values come from, by their paths: `gateway.yaml:7`, `gateway.yaml:7 ← ALPHA_API_KEY`, `GATEWAY_PORT`, `--port`. A value
 * without an origin has its default.
 */
export type Origins = Readonly<Record<string, string>>;

/** A value that is shown as one: no section, and no list of sections. */
export interface Leaf {
  readonly path: Path;
  readonly value: unknown;
}

/** Every value in the order in which it stands. A list without sections in it is one value. */
export function leavesOf(value: unknown, path: Path = []): readonly Leaf[] {
  if (Array.isArray(value) && value.some(isSection))
    return value.flatMap((item: unknown, at) => leavesOf(item, [...path, at]));
  if (!isSection(value)) return value === undefined ? [] : [{ path, value }];
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]));
}

function isSection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param file as messages call it */
export function originsOf(value: unknown, document: ConfigDocument, file: string): Origins {
  return Object.fromEntries(
    leavesOf(value).map(({ path }) => {
      const place = `${file}:${document.lineOf(path)}`;
      const sources = document.sourcesOf(path);
      return [formatPath(path), sources.length === 0 ? place : `${place} ← ${sources.join(', ')}`];
    }),
  );
}
