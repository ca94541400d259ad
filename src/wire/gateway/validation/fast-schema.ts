import { z } from 'zod';

const usedOnce = new WeakSet<z.ZodType>();
const pending = new WeakSet<z.ZodType>();
const twins = new WeakMap<z.ZodType, z.ZodType>();

/**
 * The compiled twin of a schema, which takes a quarter of the time for a value that passes and leaves any other to the
 * schema itself; the schema as it is where zod cannot compile it. A schema is compiled at its second use: one that was
 * made for a single check would be compiled for nothing.
 */
export function fastSchema<Schema extends z.ZodType>(schema: Schema): Schema {
  const twin = twins.get(schema);
  if (twin !== undefined) return isTwin(twin, schema) ? twin : schema;
  if (pending.has(schema)) return schema;
  if (usedOnce.has(schema)) compileSchema(schema);
  else usedOnce.add(schema);
  return schema;
}

/** After the start has had the processor to itself. */
const COMPILE_LATER_MS = 1_000;

/**
 * Compiles a schema a moment from now: for the large ones, which take tens of milliseconds and should make neither the
 * start of the process nor a caller wait. Until then the schema itself checks.
 */
export function compileSoon(schema: z.ZodType): void {
  setTimeout(() => compileSchema(schema), COMPILE_LATER_MS).unref();
  pending.add(schema);
}

/** Compiles a schema now. */
export function compileSchema(schema: z.ZodType): void {
  pending.delete(schema);
  twins.set(schema, z.compile(schema));
}

function isTwin<Schema extends z.ZodType>(twin: z.ZodType, schema: Schema): twin is Schema {
  return twin.def === schema.def;
}
