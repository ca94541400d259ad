import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

/** A mapping of a file that is being imported. What nothing takes out of it is reported in the end. */
export class Section {
  readonly path: string;
  readonly #left: Map<string, Json>;

  constructor(path: string, value: Json | undefined) {
    this.path = path;
    const entries = isJsonObject(value) ? Object.entries(value) : [];
    this.#left = new Map(entries.flatMap(([key, one]) => (one === undefined ? [] : [[key, one] as const])));
  }

  pathOf(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  take(key: string): Json | undefined {
    const value = this.#left.get(key);
    this.#left.delete(key);
    return value ?? undefined;
  }

  text(key: string): string | undefined {
    const value = this.take(key);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  }

  /** A number, also one in quotes, as files have them. */
  number(key: string): number | undefined {
    const value = this.take(key);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
  }

  section(key: string): Section {
    return new Section(this.pathOf(key), this.take(key));
  }

  list(key: string): readonly Json[] {
    const value = this.take(key);
    return Array.isArray(value) ? (value as readonly Json[]) : [];
  }

  entries(): readonly (readonly [string, Json])[] {
    const entries = [...this.#left];
    this.#left.clear();
    return entries;
  }

  /** Keys that nothing took. */
  rest(): readonly string[] {
    return [...this.#left.keys()];
  }
}

/** A member that is left out where it is undefined, so that files stay short. */
export function withMember(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

/** A mapping without members is left out. */
export function unlessEmpty(value: JsonObject): JsonObject | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}
