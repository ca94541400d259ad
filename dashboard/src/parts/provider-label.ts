const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * What a provider is called. Several providers may have one adapter, and with it one name ("OpenAI-compatible"): then the slug
 * tells them apart.
 */
export function labelOfProvider(slug: string | null, name: string | null): string | undefined {
  if (slug === null || name === null) return name ?? slug ?? undefined;
  return plain(slug).startsWith(plain(name)) || plain(name).startsWith(plain(slug)) ? name : slug;
}
