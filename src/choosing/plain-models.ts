/**
 * Without variants: `a/b:free` is `a/b` again under limits of its own, which nobody should get who did not ask for it. All of
 * them where there is nothing else.
 */
export function plainModels<Model extends { readonly slug: string }>(models: readonly Model[]): readonly Model[] {
  const plain = models.filter(({ slug }) => !slug.includes(':'));
  return plain.length > 0 ? plain : models;
}
