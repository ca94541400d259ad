import type { z } from 'zod';
import type { ConfigDocument, Problem } from './document.ts';
import { isContainer, problem, valueAt } from './problems.ts';
import { section } from './schema/parts.ts';
import { validate } from './validate.ts';

/** What an adapter says of its own part of a provider's entry. */
export interface AdapterOptions {
  readonly shape: Readonly<Record<string, z.ZodType>>;
  /** Members that are never shown. */
  readonly secrets: readonly string[];
}

export interface CheckedOptions {
  readonly values: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
}

/**
 * The `options` of every provider of a file by slug, each checked against its adapter's own shape.
 * @param known by the id of the adapter; absent: nothing is checked, and nothing is shown
 */
export function readOptions(
  value: unknown,
  known: Readonly<Record<string, AdapterOptions>> | undefined,
  document: ConfigDocument,
): { readonly options: ReadonlyMap<string, CheckedOptions>; readonly problems: readonly Problem[] } {
  const options = new Map<string, CheckedOptions>();
  const problems: Problem[] = [];
  const providers = valueAt(value, ['providers']);
  for (const [slug, entry] of Object.entries(isContainer(providers) ? providers : {})) {
    const path = ['providers', slug, 'options'];
    const given = valueAt(entry, ['options']);
    // Anything but a mapping is refused by the schema of the whole file.
    if (!isContainer(given) || Array.isArray(given)) continue;
    if (known === undefined) {
      options.set(slug, { values: { ...given }, secrets: Object.keys(given) });
      continue;
    }
    const adapter = valueAt(entry, ['adapter']) ?? slug;
    const schema = typeof adapter === 'string' && Object.hasOwn(known, adapter) ? known[adapter] : undefined;
    if (schema === undefined) {
      problems.push(problem(document, path, `the adapter ${JSON.stringify(adapter)} has no options`));
      continue;
    }
    const checked = validate(section(schema.shape), given, document, path);
    problems.push(...checked.problems);
    if (checked.value !== undefined) options.set(slug, { values: checked.value, secrets: schema.secrets });
  }
  return { options, problems };
}
