import { createHash } from 'node:crypto';
import { parseJson, isJsonObject, type Json } from '../../lib/json.ts';
import { faultOfPattern } from '../../lib/text/plain-pattern.ts';
import { datasetItemSchema } from '../../resources/evaluations.ts';
import { fromOtherForm } from './import-forms.ts';
import { defaultChecks, faultOfCheck, type DatasetItem } from './item.ts';

const ID_CHARS = 16;

/** The item of one line, or what is wrong with it. */
export type ParsedLine = { readonly item: DatasetItem } | { readonly fault: string };

export function parseLine(line: string): ParsedLine {
  const value = parseJson(line);
  if (!isJsonObject(value)) return { fault: 'is not a JSON object' };
  const parsed = datasetItemSchema.safeParse(fromOtherForm(value) ?? value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.join('.') ?? '';
    return { fault: `${path === '' ? '' : `${path}: `}${issue?.message ?? 'is no item'}` };
  }
  const { id = idOf(line), weight = 1, group = null, ...rest } = parsed.data;
  const expected: Json | undefined = rest.expected;
  const checks = rest.checks ?? defaultChecks(expected);
  for (const [at, check] of checks.entries()) {
    const fault = check.type === 'regex' ? faultOfPattern(check.pattern) : faultOfCheck(check, expected);
    if (fault !== undefined) return { fault: `checks.${at}: ${fault}` };
  }
  return { item: { ...rest, id, expected, checks, weight, group } };
}

function idOf(line: string): string {
  return createHash('sha256').update(line).digest('hex').slice(0, ID_CHARS);
}
