import { z } from 'zod';
import type { Path } from './document.ts';
import { configFile } from './schema.ts';
import { isPassThroughKey, modelEntry, passThroughEntry } from './schema/models.ts';

type Schema = z.core.$ZodType;

/** What a key of the file means, in one sentence, as its schema has it. `undefined`: the schema does not say. */
export function meaningOf(path: Path): string | undefined {
  const [section, name, ...rest] = path;
  // Two kinds of entries, which the schema of the file leaves to `read-file.ts`.
  const found =
    section === 'models' && typeof name === 'string'
      ? schemaAt(isPassThroughKey(name) ? passThroughEntry : modelEntry, rest)
      : schemaAt(configFile, path);
  return found && descriptionOf(found);
}

function schemaAt(schema: Schema, [step, ...rest]: Path): Schema | undefined {
  if (step === undefined) return schema;
  const inner = memberOf(unwrap(schema), step);
  return inner && schemaAt(inner, rest);
}

function memberOf(schema: Schema, step: string | number): Schema | undefined {
  if (schema instanceof z.ZodObject) return new Map(Object.entries<Schema>(schema.shape)).get(String(step));
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return schema instanceof z.ZodArray ? schema.element : undefined;
}

/** The outermost one: that of the key rather than of what it holds. */
function descriptionOf(schema: Schema): string | undefined {
  const own = z.globalRegistry.get(schema)?.description;
  if (own !== undefined) return own;
  const inner = stripOne(schema);
  return inner && descriptionOf(inner);
}

function stripOne(schema: Schema): Schema | undefined {
  if (schema instanceof z.ZodOptional) return schema.unwrap();
  return schema instanceof z.ZodPipe ? schema.out : undefined;
}

function unwrap(schema: Schema): Schema {
  const inner = stripOne(schema);
  return inner === undefined ? schema : unwrap(inner);
}
