/** Which models a caller lets a router choose. @spec router-13 */
export interface SlugPreferences {
  /** Patterns in which `*` stands for any run of characters. Absent: all. */
  readonly allowed?: readonly string[] | undefined;
  /** It always wins. */
  readonly excluded?: readonly string[] | undefined;
}

/** @returns which list leaves a slug out; `undefined`: none does */
export function slugFilter(
  { allowed, excluded = [] }: SlugPreferences,
  resolve: (alias: string) => string | undefined,
): (slug: string) => 'allowed_models' | 'excluded_models' | undefined {
  const [allows, excludes] = [
    allowed?.map((pattern) => compile(named(pattern, resolve))),
    excluded.map((pattern) => compile(named(pattern, resolve))),
  ];
  return (slug) => {
    const name = slug.toLowerCase();
    if (excludes.some((pattern) => matches(pattern, name))) return 'excluded_models';
    return allows?.some((pattern) => matches(pattern, name)) === false ? 'allowed_models' : undefined;
  };
}

/** Whether a pattern of the caller names a variant (`:free`) explicitly. */
export function namesVariants({ allowed = [] }: SlugPreferences): boolean {
  return allowed.some((pattern) => pattern.includes(':'));
}

/** An alias means the model that it stands for now. */
function named(pattern: string, resolve: (alias: string) => string | undefined): string {
  return pattern.startsWith('~') && !pattern.includes('*') ? (resolve(pattern) ?? pattern) : pattern;
}

/** A pattern, taken apart once: a caller may send a thousand, and each is held against every model. */
interface Compiled {
  readonly head: string;
  /** What has to follow, in this order, with anything between. */
  readonly parts: readonly string[];
  /** What it ends with; `undefined`: there is no star. */
  readonly tail: string | undefined;
}

function compile(pattern: string): Compiled {
  const [head = '', ...parts] = pattern.toLowerCase().split('*');
  const tail = parts.pop();
  return { head, parts, tail };
}

/** Case counts not. */
export function matchesSlug(pattern: string, slug: string): boolean {
  return matches(compile(pattern), slug.toLowerCase());
}

/** After a star the first place that fits is as good as any, so that nothing is tried twice. */
function matches({ head, parts, tail }: Compiled, name: string): boolean {
  if (tail === undefined) return head === name;
  if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) return false;
  let at = head.length;
  const end = name.length - tail.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
