/**
 * Without variants: `a/b:free` is `a/b` again under limits of its own, which a request must not get by surprise. All of
 * them if there is nothing else.
 */
export function plainModels<Model extends { readonly slug: string }>(models: readonly Model[]): readonly Model[] {
  const plain = models.filter(({ slug }) => !slug.includes(':'));
  return plain.length > 0 ? plain : models;
}
