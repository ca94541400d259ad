import { z } from 'zod';
import { flag, integer, nullable, restriction, text, time, type Column } from './columns.ts';
import { defineResource, member, type NewOf, type PatchOf, type RowOf } from './resource.ts';

const FILTER_ENTRIES_MAX = 100;
const NAME_CHARS_MAX = 255;
const ENTRY_CHARS_MAX = 256;
const SORT_ORDER_MAX = 1_000_000;

const providerSchema = z
  .string()
  .min(1)
  .max(ENTRY_CHARS_MAX)
  .describe('The slug of a provider, as GET /providers lists it.');
const entries = z.array(z.string().min(1).max(ENTRY_CHARS_MAX)).max(FILTER_ENTRIES_MAX).nullable();
const hashes = z
  .array(z.string().regex(/^[a-f0-9]{64}$/, { error: 'must be 64 lower-case hex digits' }))
  .min(1)
  .max(FILTER_ENTRIES_MAX)
  .nullable();
const shownNames = z.array(z.string()).nullable();

/** Null in SQL once the credential was deleted. */
const wipable: Column<string | null, string, string> = { ...text, decode: (stored) => stored ?? '' };

/**
 * Credentials of providers that the account brought. A deleted one stays as a row, without its secrets.
 * @spec byok-2; `@openrouter/sdk` 1.3.19, `BYOKKey`. `always_use` is ours
 */
export const byokKeyResource = defineResource('ByokKey', {
  id: member(text, { shown: z.uuid() }),
  provider: member(text, { shown: z.string(), create: providerSchema }),
  workspace_id: member(nullable(text), {
    shown: z.uuid().nullable().describe('Null: every workspace.'),
    create: z.uuid().nullable().optional().describe('Null: every workspace. Absent: the default one.'),
  }),
  label: member(text, { shown: z.string().describe('A masked excerpt of the credential.') }),
  name: member(nullable(text), {
    initial: null,
    shown: z.string().nullable(),
    set: z.string().max(NAME_CHARS_MAX).nullable(),
  }),
  /** The credential as `lib/secret-box.ts` sealed it. */
  sealed: member(wipable, {}),
  /** The secret that sealed it. */
  secret_id: member(wipable, {}),
  disabled: member(flag, { initial: false, set: z.boolean() }),
  is_fallback: member(flag, {
    initial: false,
    shown: z.boolean(),
    set: z.boolean().optional().describe("Used after the gateway's own credential has failed."),
  }),
  is_required: z.boolean().describe('The same as `always_use`.'),
  is_byok_only: z.literal(false).describe('For models beside `allowed_models` the credentials of the gateway stay.'),
  declared_zdr: z.null().describe("The provider's data policy counts."),
  always_use: member(flag, {
    initial: false,
    shown: z.boolean(),
    set: z
      .boolean()
      .optional()
      .describe("Where the credential may be used, the gateway's own of that provider is not."),
  }),
  sort_order: member(integer, {
    shown: z.int(),
    set: z.int().min(0).max(SORT_ORDER_MAX).optional().describe('The lowest of a provider is used first.'),
  }),
  allowed_models: member(restriction, {
    initial: null,
    shown: shownNames,
    set: entries.optional().describe('Slugs, permanent names or aliases of models. Null: all.'),
  }),
  allowed_api_key_hashes: member(restriction, {
    initial: null,
    shown: shownNames,
    set: hashes.optional().describe('Hashes of the keys that may use it. Null: all.'),
  }),
  allowed_user_ids: member(restriction, {
    initial: null,
    shown: shownNames,
    set: entries.optional().describe('Members whose keys may use it. Null: all.'),
  }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at_ms: member(time, {}),
});

export type ByokKeyRow = RowOf<typeof byokKeyResource>;
export type NewByokKeyValues = NewOf<typeof byokKeyResource>;
export type ByokKeyPatch = PatchOf<typeof byokKeyResource>;
