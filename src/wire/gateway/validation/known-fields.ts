import { z } from 'zod';

const UNWRAPS_MAX = 16;

/** Names of the members that a schema declares for the object at a path, over all branches that may stand there. */
export function knownFields(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let here: readonly z.core.$ZodType[] = resolve(schema);
  // Branches often share their parts: without the set, each step into a nested union would multiply them.
  for (const segment of path)
    here = [...new Set(here.flatMap((node) => stepInto(node, segment)).flatMap((node) => resolve(node)))];
  return here.flatMap((node) => (node instanceof z.ZodObject ? Object.keys(node.shape) : []));
}

function stepInto(node: z.core.$ZodType, segment: PropertyKey): readonly z.core.$ZodType[] {
  if (node instanceof z.ZodArray) return [node.element];
  if (node instanceof z.ZodRecord) return [node.valueType];
  if (!(node instanceof z.ZodObject)) return [];
  const member: z.core.$ZodType | undefined = node.shape[String(segment)];
  return member === undefined ? [] : [member];
}

/** What stands behind wrappers and unions. */
function resolve(schema: z.core.$ZodType, unwraps = 0): readonly z.core.$ZodType[] {
  if (unwraps > UNWRAPS_MAX) return [];
  const behind = wrapped(schema);
  return behind.length === 0 ? [schema] : behind.flatMap((inner) => resolve(inner, unwraps + 1));
}

function wrapped(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out];
  if (schema instanceof z.ZodLazy) return [schema.unwrap()];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    return [schema.unwrap()];
  return [];
}
