import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { stepsOf, type AttributePath } from './attribute-path.ts';

/** Which attributes of resources a request wants. @spec scim-17 */
export interface Projection {
  /** Absent: all. */
  readonly only: readonly AttributePath[] | undefined;
  readonly without: readonly AttributePath[];
}

/** What every answer has. @source RFC 7643, 7, `returned: always` */
const ALWAYS: readonly string[] = ['schemas', 'id'];

export function projectionOf(query: URLSearchParams): Projection {
  const only = pathsOf(query.get('attributes'));
  return { only: only.length === 0 ? undefined : only, without: pathsOf(query.get('excludedAttributes')) };
}

function pathsOf(list: string | null): readonly AttributePath[] {
  return (list ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => stepsOf(name.trim()))
    .filter(([first = '']) => first !== '');
}

/** Whether nothing of an attribute is wanted, so that it need not be read. */
export function leavesOut({ only, without }: Projection, name: string): boolean {
  return (
    only?.some(([first]) => first === name) === false ||
    without.some(([first, ...rest]) => first === name && rest.length === 0)
  );
}

/** @source RFC 7644, 3.9 */
export function project(resource: JsonObject, { only, without }: Projection): JsonObject {
  const chosen = only === undefined ? resource : select(resource, [...only, ...ALWAYS.map((name) => [name])]);
  const left = without.filter(([first = '']) => !ALWAYS.includes(first));
  return left.length === 0 ? chosen : omit(chosen, left);
}

function select(object: JsonObject, paths: readonly AttributePath[]): JsonObject {
  return mapMembers(object, paths, (value, tails) => {
    if (tails.length === 0) return undefined;
    return tails.some((tail) => tail.length === 0) ? value : inside(value, (each) => select(each, tails));
  });
}

function omit(object: JsonObject, paths: readonly AttributePath[]): JsonObject {
  return mapMembers(object, paths, (value, tails) => {
    if (tails.some((tail) => tail.length === 0)) return undefined;
    return tails.length === 0 || typeof value !== 'object' ? value : inside(value, (each) => omit(each, tails));
  });
}

/** @param change gets what is left of the paths that begin with the member; `undefined` leaves it out */
function mapMembers(
  object: JsonObject,
  paths: readonly AttributePath[],
  change: (value: Json, tails: readonly AttributePath[]) => Json | undefined,
): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const tails = paths.filter(([first]) => first === name.toLowerCase()).map(([, ...tail]) => tail);
      const changed = change(value, tails);
      return changed === undefined ? [] : [[name, changed]];
    }),
  );
}

/** The members of an object, or of each element of a list; what has none left is left out. */
function inside(value: Json, change: (each: JsonObject) => JsonObject): Json | undefined {
  const elements: readonly Json[] = Array.isArray(value) ? value : [value];
  const changed = elements
    .filter((each) => isJsonObject(each))
    .map(change)
    .filter((each) => Object.keys(each).length > 0);
  if (Array.isArray(value)) return changed.length === 0 ? undefined : changed;
  return changed[0];
}
