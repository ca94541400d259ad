import { z } from 'zod';
import { modelName } from './parts.ts';

const ALIAS_CHARS_MAX = 256;

/** What callers may write in place of a slug. A suffix (`:nitro`) is no part of it. */
const aliasName = z
  .string()
  .max(ALIAS_CHARS_MAX)
  .regex(/^[A-Za-z0-9][\w./-]*$/, 'must be a name of letters, digits, ".", "_", "-" and "/"');

export const aliases = z
  .preprocess((value) => value ?? {}, z.record(aliasName, modelName).superRefine(refuseAliasOfAlias))
  .meta({
    description: 'Names that callers may use in place of slugs. Reloaded without a restart.',
    default: {},
    example: { 'claude-haiku-4-5': 'acme/one' },
  });

/** One step from a name to its slug: else two could stand for each other. */
function refuseAliasOfAlias(given: Readonly<Record<string, string>>, context: z.RefinementCtx): void {
  for (const [name, slug] of Object.entries(given))
    // What is no slug is refused as such.
    if (modelName.safeParse(slug).success && Object.hasOwn(given, slug.split(':')[0] ?? slug))
      context.addIssue({ code: 'custom', path: [name], message: `must name a model: "${slug}" is an alias itself` });
}
