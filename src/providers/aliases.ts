/** Slugs that the reference API has for providers which are called otherwise here. @source `@openrouter/sdk` 1.3.19, `BYOKProviderSlug` */
const ALIASES: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'bedrock',
  'google-ai-studio': 'google',
};

/** The slug here of a provider, whichever of its names is used. */
export function canonicalSlug(slug: string): string {
  return Object.hasOwn(ALIASES, slug) ? (ALIASES[slug] ?? slug) : slug;
}
