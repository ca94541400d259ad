import type { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { Issue } from '../../../canonical/gateway-error.ts';
import { quote } from './describe-issue.ts';
import { fastSchema } from './fast-schema.ts';
import { findFaults } from './find-faults.ts';
import type { Fault } from './find-faults.ts';
import { BOUNDED_CHARS_MAX, findExcess, holdsMoreValues } from '../../../lib/json/bounds.ts';
import { isScanned } from '../../../lib/json/scan-text.ts';
import { knownFields } from './known-fields.ts';

const ISSUES_MAX = 20;
/** Of a body with more values only the first issue is looked for: listing those of 100,000 takes half a second. */
const LISTED_VALUES_MAX = 5_000;
const PLAIN_MEMBER = /^[A-Za-z_$][\w$]{0,79}$/;

/** An empty message marks the places where no schema gave its own. */
const PARSE_CONTEXT = { error: () => '', reportInput: true };
const FIRST_ISSUE_CONTEXT = { ...PARSE_CONTEXT, abortEarly: true };

/**
 * Checks a value that came as JSON against a schema and gives what the schema makes of it.
 * @param options.root how paths call the value: with `query` they read `query.limit`; members of a body need none
 * @param options.text that it was parsed from: where that was short, or was scanned (scan-text.ts), its values need not be counted
 * @throws GatewayError 400 with up to 20 `issues`, each at the very member that is wrong, in the order of the schema. The
 *   type is `invalid_prompt` when the first stands in `messages`, else `invalid_request`.
 */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  options: { readonly root?: string; readonly text?: string } = {},
): z.output<Schema> {
  const { text } = options;
  const isShort = text !== undefined && text.length <= BOUNDED_CHARS_MAX;
  const isLarge = !isShort && holdsMoreValues(value, LISTED_VALUES_MAX);
  const excess = isLarge && !(text !== undefined && isScanned(text)) ? findExcess(value) : undefined;
  if (excess !== undefined) throw shapeError([excess], 0, options.root);
  const context = isLarge ? FIRST_ISSUE_CONTEXT : PARSE_CONTEXT;
  const result = parse(schema, value, context, options.root);
  if (result.success) return result.data;
  const { faults, more } = findFaults(result.error.issues, ISSUES_MAX, (path) => knownFields(schema, path));
  throw shapeError(faults, more, options.root);
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: typeof PARSE_CONTEXT,
  root: string | undefined,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return fastSchema(schema).safeParse(value, context);
  } catch (error) {
    // zod hands lists of issues on as arguments, and the stack does not take a hundred thousand of them.
    if (error instanceof RangeError)
      throw shapeError([{ path: [], message: 'has more faults than can be listed' }], 0, root);
    throw error;
  }
}

function shapeError(faults: readonly Fault[], more: number, root: string | undefined): GatewayError {
  const issues = faults.map(({ path, message }): Issue => ({ path: formatPath(path, root), message }));
  const first = issues[0] ?? { path: 'body', message: 'is not valid' };
  const others = Math.max(0, issues.length - 1) + more;
  const type = faults[0]?.path[0] === 'messages' && root === undefined ? 'invalid_prompt' : 'invalid_request';
  return new GatewayError(type, `${first.path}: ${first.message}${others > 0 ? ` (and ${others} more)` : ''}`, {
    issues,
  });
}

/** `messages[3].content[1].image_url.url`; the value itself is its root, or `body`. */
export function formatPath(path: readonly PropertyKey[], root?: string): string {
  let text = root ?? '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (typeof segment === 'symbol' || !PLAIN_MEMBER.test(segment)) text += `[${quote(String(segment))}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text === '' ? 'body' : text;
}
