/**
 * Names of providers that both lists allow: of a base and one of its variants (`deepinfra`, `deepinfra/turbo`), the
 * variant.
 */
export function intersectProviders(some: readonly string[], others: readonly string[]): readonly string[] {
  const isPart = (name: string, whole: string): boolean =>
    name.toLowerCase() === whole.toLowerCase() || name.toLowerCase().startsWith(`${whole.toLowerCase()}/`);
  return [
    ...some.filter((name) => others.some((whole) => isPart(name, whole))),
    ...others.filter((name) => some.some((whole) => isPart(name, whole) && !isPart(whole, name))),
  ];
}
