import type { z } from 'zod';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { nearestName } from '../../../lib/text/nearest-name.ts';

type ZodIssue = z.core.$ZodIssue;

/** A value of a kind, or among values, that its place does not allow. */
export interface Mismatch {
  readonly values: readonly unknown[];
  /** As zod names it: `string`, `int`, `record`. */
  readonly kinds: readonly string[];
  readonly input: unknown;
}

const QUOTED_CHARS_MAX = 80;
const VALUES_SHOWN_MAX = 40;

const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'an integer'],
  ['boolean', 'a boolean'],
  ['array', 'an array'],
  ['tuple', 'an array'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['never', 'absent'],
]);

/**
 * What is wrong with a member, as the end of a sentence that its path begins: `must be a string, not a number`. A
 * message of the schema's own stands above this one.
 */
export function describeIssue(issue: ZodIssue): string {
  if (issue.message !== '') return issue.message;
  const mismatch = mismatchOf(issue);
  if (mismatch !== undefined) return describeMismatch(mismatch);
  switch (issue.code) {
    case 'too_big':
      return describeSize(
        issue.origin,
        issue.maximum,
        issue.inclusive === false ? 'less than' : 'at most',
        issue.input,
      );
    case 'too_small':
      return describeSize(
        issue.origin,
        issue.minimum,
        issue.inclusive === false ? 'more than' : 'at least',
        issue.input,
      );
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return describeFormat(issue);
    case 'invalid_key':
      return describeKey(issue);
    case 'invalid_type':
    case 'invalid_value':
    case 'invalid_union':
    case 'invalid_element':
    case 'unrecognized_keys':
    case 'custom':
      return 'is not valid';
    default:
      return unreachable(issue);
  }
}

/** `undefined` for an issue that is not about the kind of a value. */
export function mismatchOf(issue: ZodIssue): Mismatch | undefined {
  if (issue.code === 'invalid_type') return { values: [], kinds: [issue.expected], input: issue.input };
  if (issue.code === 'invalid_value') return { values: issue.values, kinds: [], input: issue.input };
  if (issue.code !== 'invalid_union' || !('options' in issue) || !Array.isArray(issue.options)) return undefined;
  // A tag that no branch has: zod gives the whole object as the input and the tag's name at the end of the path.
  const tag = issue.path.at(-1);
  if (typeof tag !== 'string' || !isJsonObject(issue.input)) return undefined;
  return { values: issue.options, kinds: [], input: issue.input[tag] };
}

export function describeMismatch({ values, kinds, input }: Mismatch): string {
  if (input === undefined) return values.length > 1 ? `is required: one of ${listValues(values)}` : 'is required';
  if (typeof input === 'number' && !Number.isFinite(input)) return 'must be a finite number';
  const wanted = new Set(kinds.map((kind) => KIND_NAMES.get(kind) ?? kind));
  const choices = values.length === 0 ? [] : [`${values.length > 1 ? 'one of ' : ''}${listValues(values)}`];
  // `must be an integer, not a number` would puzzle; the number itself does not.
  const shown = values.length > 0 || (typeof input === 'number' && kinds.includes('int'));
  return `must be ${[...choices, ...wanted].join(' or ')}, not ${shown ? nameValue(input) : nameKind(input)}`;
}

/** A member that a closed object does not have. */
export function describeUnknownField(member: string, known: Iterable<string>): string {
  const nearest = nearestName(member, known);
  return nearest === undefined ? 'is not a known field' : `is not a known field; did you mean ${quote(nearest)}?`;
}

/** A caller's text as it may stand in a message: cut, and as JSON, so that nothing in it can pass for ours. */
export function quote(text: string): string {
  return text.length > QUOTED_CHARS_MAX
    ? `${JSON.stringify(text.slice(0, QUOTED_CHARS_MAX))}...`
    : JSON.stringify(text);
}

function describeSize(origin: string, limit: number | bigint, relation: string, input: unknown): string {
  if (typeof input === 'string' || Array.isArray(input)) {
    if (relation === 'at least' && limit === 1) return 'must not be empty';
    const unit = typeof input === 'string' ? 'characters' : 'items';
    return `must have ${relation} ${limit} ${unit}, not ${input.length}`;
  }
  if (typeof input === 'number') return `must be ${relation} ${limit}, not ${input}`;
  return `must have ${relation} ${limit} ${origin === 'object' ? 'fields' : 'entries'}`;
}

/** Well-known formats get their name: their pattern would fill a screen. */
const FORMAT_NAMES: ReadonlyMap<string, string> = new Map([
  ['datetime', 'a date and time such as "2027-01-31T09:30:00Z"'],
  ['date', 'a date such as "2027-01-31"'],
  ['uuid', 'a UUID'],
]);

function describeFormat({ format, pattern }: z.core.$ZodIssueInvalidStringFormat): string {
  if (format === 'regex') return `must match ${pattern}`;
  return `must be ${FORMAT_NAMES.get(format) ?? `a valid ${format}`}`;
}

function describeKey(issue: z.core.$ZodIssueInvalidKey): string {
  const [first] = issue.issues;
  return `has a name that is not allowed${first === undefined ? '' : `: it ${describeIssue(first)}`}`;
}

function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_SHOWN_MAX).map((value) => JSON.stringify(value));
  return shown.join(', ') + (values.length > shown.length ? ` and ${values.length - shown.length} more` : '');
}

function nameValue(input: unknown): string {
  if (typeof input === 'string') return quote(input);
  return typeof input === 'object' && input !== null ? nameKind(input) : String(input);
}

function nameKind(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  return KIND_NAMES.get(typeof input) ?? typeof input;
}
