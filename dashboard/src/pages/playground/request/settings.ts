import { isRecord } from '../../../api/errors.ts';
import { problemOfNumber } from '../../../parts/number-text.ts';

export const EFFORTS = ['', 'low', 'medium', 'high'] as const;
export const SORTS = ['', 'price', 'throughput', 'latency'] as const;

export interface Settings {
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: (typeof EFFORTS)[number];
  readonly sort: (typeof SORTS)[number];
  /** Functions as JSON, as the body has them. */
  readonly tools: string;
  /** Further members of the body as JSON: `provider`, `plugins`, `response_format`. */
  readonly more: string;
  readonly preset: string;
}

export const NO_SETTINGS: Settings = {
  system: '',
  temperature: '',
  maxTokens: '',
  effort: '',
  sort: '',
  tools: '',
  more: '',
  preset: '',
};

/** How many settings say something. */
export function countSettings(settings: Settings): number {
  return Object.values(settings).filter((value) => value !== '').length;
}

/** What is wrong with the functions; `undefined`: nothing. */
export function problemOfTools(tools: string): string | undefined {
  return problemOfJson(tools, (value) => (Array.isArray(value) ? undefined : 'An array of functions is expected.'));
}

/** What is wrong with the further members; `undefined`: nothing. */
export function problemOfMore(more: string): string | undefined {
  return problemOfJson(more, (value) => (isRecord(value) ? undefined : 'An object is expected.'));
}

function problemOfJson(text: string, problemOf: (value: unknown) => string | undefined): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    return problemOf(JSON.parse(text));
  } catch (error) {
    return error instanceof Error ? error.message : 'This is no JSON.';
  }
}

/** Of the field for the most tokens. */
export const TOKEN_RULES = { isWhole: true, min: 1 } as const;

/** The first field that cannot be sent, with its problem; `undefined`: all can. */
export function problemOfSettings({ temperature, maxTokens, tools, more }: Settings): string | undefined {
  const problems = [
    ['Temperature', problemOfNumber(temperature)],
    ['Most tokens out', problemOfNumber(maxTokens, TOKEN_RULES)],
    ['Functions', problemOfTools(tools)],
    ['More of the body', problemOfMore(more)],
  ] as const;
  const [found] = problems.flatMap(([field, problem]) => (problem === undefined ? [] : [`${field}: ${problem}`]));
  return found;
}
