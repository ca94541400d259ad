/** Which models a caller lets a router choose. @source seed 2.2 "Router rules" */
export interface SlugWishes {
  /** Patterns in which `*` stands for any run of characters. Absent: all. */
  readonly allowed?: readonly string[] | undefined;
  /** It always wins. */
  readonly excluded?: readonly string[] | undefined;
}

/** @returns which list leaves a slug out; `undefined`: none does */
export function slugFilter(
  { allowed, excluded = [] }: SlugWishes,
  resolve: (alias: string) => string | undefined,
): (slug: string) => 'allowed_models' | 'excluded_models' | undefined {
  const [allows, excludes] = [
    allowed?.map((pattern) => named(pattern, resolve)),
    excluded.map((pattern) => named(pattern, resolve)),
  ];
  return (slug) => {
    if (excludes.some((pattern) => matchesSlug(pattern, slug))) return 'excluded_models';
    return allows?.some((pattern) => matchesSlug(pattern, slug)) === false ? 'allowed_models' : undefined;
  };
}

/** Whether a caller asks for a variant (`:free`) in so many words. */
export function namesVariants({ allowed = [] }: SlugWishes): boolean {
  return allowed.some((pattern) => pattern.includes(':'));
}

/** An alias means the model that it stands for now. */
function named(pattern: string, resolve: (alias: string) => string | undefined): string {
  return pattern.startsWith('~') && !pattern.includes('*') ? (resolve(pattern) ?? pattern) : pattern;
}

/** In time linear in the slug for each star: after a star the first place that fits is as good as any. Case counts not. */
export function matchesSlug(pattern: string, slug: string): boolean {
  const [text, name] = [pattern.toLowerCase(), slug.toLowerCase()];
  const [head = '', ...parts] = text.split('*');
  const tail = parts.pop();
  if (tail === undefined) return text === name;
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
