/** What is done about a match. The strongest of several wins: block, then redact, then flag. @spec filter-3 */
export type FilterAction = 'redact' | 'block' | 'flag';

/** A pattern of the operator's own. @spec filter-1 */
export interface ContentFilter {
  /** Text of a JavaScript regular expression that `lib/text/plain-pattern.ts` accepts. */
  readonly pattern: string;
  readonly action: FilterAction;
  /** What a match is replaced with, and called in messages. Null: `[REDACTED]`. */
  readonly label: string | null;
  /** Whether answers are searched as well as requests. @spec filter-11 */
  readonly scanOutput: boolean;
}

/** As callers of the management API and the database spell them. A new one takes its label below, and a matcher. */
export const BUILTIN_FILTER_SLUGS = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'person-name',
  'address',
  'regex-prompt-injection',
] as const;

export type BuiltinFilterSlug = (typeof BUILTIN_FILTER_SLUGS)[number];

/** What a match of a built-in filter is replaced with, and called. @spec filter-5 */
export const LABEL_OF_BUILTIN: Readonly<Record<BuiltinFilterSlug, string>> = {
  email: '[EMAIL]',
  phone: '[PHONE]',
  ssn: '[SSN]',
  'credit-card': '[CREDIT_CARD]',
  'ip-address': '[IP_ADDRESS]',
  'person-name': '[PERSON_NAME]',
  address: '[ADDRESS]',
  'regex-prompt-injection': '[PROMPT_INJECTION]',
};

export interface BuiltinFilter {
  readonly slug: BuiltinFilterSlug;
  readonly action: FilterAction;
  /** Which messages the injection detector reads; of the others always all. */
  readonly scanScope: 'user_only' | 'all_messages';
  readonly scanOutput: boolean;
}

/** A question about each request that a model answers. @spec filter-24 */
export interface JudgeFilter {
  /** Slug of the model. */
  readonly model: string;
  /** Answered by yes or no; it matches where yes is at least as likely as `threshold`, 0.5 to 1. */
  readonly question: string;
  readonly threshold: number;
  readonly action: 'block' | 'flag';
  /** Without a verdict. */
  readonly onError: 'block' | 'allow';
  /** Its name in messages. */
  readonly label: string | null;
}

/** Authors whose models must not retain what they are sent, each group by itself. @spec guardrail-1 */
export interface ZeroRetention<Value = boolean> {
  readonly anthropic: Value;
  readonly openai: Value;
  readonly google: Value;
  readonly xai: Value;
  readonly other: Value;
}

/** The rules of one guardrail beside its budget. Null: no rule. */
export interface GuardrailRules {
  /** Slugs, in lower case. Never empty. */
  readonly allowedProviders: readonly string[] | null;
  readonly ignoredProviders: readonly string[] | null;
  /** Permanent names where the catalog knows the model, so that a renamed one stays meant. Never empty. */
  readonly allowedModels: readonly string[] | null;
  readonly ignoredModels: readonly string[] | null;
  readonly zeroRetention: ZeroRetention<boolean | null>;
  /** Whether endpoints that train on what they are sent may be used: those with a price, and those without. */
  readonly paidTraining: boolean | null;
  readonly freeTraining: boolean | null;
  /** Whether endpoints without a price that publish what they are sent may be used. */
  readonly freePublication: boolean | null;
  readonly contentFilters: readonly ContentFilter[] | null;
  readonly builtinFilters: readonly BuiltinFilter[] | null;
  readonly judgeFilters: readonly JudgeFilter[] | null;
}

/** The same done to the value of each group. */
export function mapGroups<From, To>(values: ZeroRetention<From>, map: (value: From) => To): ZeroRetention<To> {
  return {
    anthropic: map(values.anthropic),
    openai: map(values.openai),
    google: map(values.google),
    xai: map(values.xai),
    other: map(values.other),
  };
}
