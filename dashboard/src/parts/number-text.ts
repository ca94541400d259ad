/** What a number that is typed must be, besides a number. */
export interface NumberRules {
  /** An empty field is a problem, and not "none". */
  readonly isRequired?: boolean;
  readonly isWhole?: boolean;
  readonly min?: number;
  readonly max?: number;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const WITH_COMMA = /^[+-]?\d[\d.]*,\d*$/;

/** Of a field for the days until something ends: a date that the API takes. */
export const DAYS_AHEAD = { isWhole: true, min: 1, max: 36_500 } as const;

/** The number of a field; `undefined`: it is empty, or has a problem. */
export function parseNumber(text: string, rules: NumberRules = {}): number | undefined {
  const isNone = text.trim() === '' || problemOfNumber(text, rules) !== undefined;
  return isNone ? undefined : Number(text);
}

/** What is wrong with a field, as a sentence; `undefined`: nothing. */
export function problemOfNumber(text: string, rules: NumberRules = {}): string | undefined {
  const { isRequired = false, isWhole = false, min = -Infinity, max = Infinity } = rules;
  if (text.trim() === '') return isRequired ? 'Write a number.' : undefined;
  if (WITH_COMMA.test(text.trim())) return 'Write the decimals behind a point: 5.00.';
  const value = NUMBER.test(text.trim()) ? Number(text) : undefined;
  if (value === undefined) return isWhole ? 'Write a number, such as 30.' : 'Write a number, such as 12.50.';
  if (isWhole && !Number.isSafeInteger(value)) return 'Write a whole number.';
  if (value < min) return `Write at least ${min}.`;
  return value > max ? `Write at most ${max}.` : undefined;
}
