import type { Warnings } from './gateway/warnings.ts';

/**
 * Which beta features of the messages format an upstream takes. A flag is a feature's name with a date:
 * `interleaved-thinking-2025-05-14`.
 */
export interface BetaRules {
  /** Features, whatever their date; whole flags; or `*` for all. */
  readonly allow: ReadonlySet<string>;
  /** Features or flags that do not pass, even if they are allowed. */
  readonly deny: ReadonlySet<string>;
  /** Flags that the upstream knows under another name. */
  readonly rename: ReadonlyMap<string, string>;
}

export const NO_BETA_RULES: BetaRules = { allow: new Set(), deny: new Set(), rename: new Map() };

const DATED = /^([a-z0-9-]+?)-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;
/** Enough to see what is missing: clients send a dozen. */
const FLAGS_REPORTED_MAX = 8;

export function featureOf(flag: string): string {
  return DATED.exec(flag)?.[1] ?? flag;
}

/** What the upstream calls a flag; `undefined`: it does not take it. @param features allowed besides, by name */
export function allowedFlag(flag: string, rules: BetaRules, features: readonly string[] = []): string | undefined {
  const { allow, deny, rename } = rules;
  const feature = featureOf(flag);
  if (deny.has(flag) || deny.has(feature)) return undefined;
  const renamed = rename.get(flag);
  if (renamed !== undefined) return renamed;
  return allow.has(flag) || allow.has(feature) || allow.has('*') || features.includes(feature) ? flag : undefined;
}

/** The flags that the upstream accepts, each once; the others are reported in one warning. @spec request-29 */
export function filterFlags(
  flags: readonly string[],
  rules: BetaRules,
  warnings: Warnings,
  features: readonly string[] = [],
): readonly string[] {
  const taken = new Set<string>();
  const dropped: string[] = [];
  for (const flag of flags) {
    const allowed = allowedFlag(flag, rules, features);
    if (allowed === undefined) dropped.push(flag);
    else taken.add(allowed);
  }
  if (dropped.length > 0) {
    const reported = dropped.slice(0, FLAGS_REPORTED_MAX).map((flag) => JSON.stringify(flag.slice(0, 80)));
    const more = dropped.length > FLAGS_REPORTED_MAX ? ` and ${dropped.length - FLAGS_REPORTED_MAX} more` : '';
    warnings.add('field-dropped', 'anthropic-beta', `not known to this provider: ${reported.join(', ')}${more}`);
  }
  return [...taken];
}
