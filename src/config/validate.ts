import type { z } from 'zod';
import type { ConfigDocument, Path, Problem } from './document.ts';
import { isContainer, problemsOf, valueAt } from './problems.ts';

export interface Validated<Value> {
  readonly value: Value | undefined;
  readonly problems: readonly Problem[];
}

/** Checks a part of a file against a schema. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  document: ConfigDocument,
  base: Path,
): Validated<z.output<Schema>> {
  let result = schema.safeParse(value);
  if (!result.success && convertVariables(result.error, value, document, base)) result = schema.safeParse(value);
  if (result.success) return { value: result.data, problems: [] };
  return { value: undefined, problems: problemsOf(result.error, document, value, base) };
}

/**
 * A variable is text; where the schema wants a number or a truth value, its text may stand for one (`port: ${PORT}`).
 * Changes `value` in place. Returns whether anything changed.
 */
function convertVariables(error: z.ZodError, value: unknown, document: ConfigDocument, base: Path): boolean {
  let changed = false;
  for (const issue of error.issues) {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code !== 'invalid_type' || !document.isFromEnvironment([...base, ...path])) continue;
    const last = path.at(-1);
    const parent = valueAt(value, path.slice(0, -1));
    if (last === undefined || !isContainer(parent)) continue;
    const converted = convert(parent[last], issue.expected);
    if (converted === undefined) continue;
    parent[last] = converted;
    changed = true;
  }
  return changed;
}

function convert(text: unknown, expected: string): number | boolean | undefined {
  if (typeof text !== 'string') return undefined;
  if (expected === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  const isNumber = (expected === 'number' || expected === 'int') && /^-?\d+(?:\.\d+)?$/.test(text);
  return isNumber ? Number(text) : undefined;
}
