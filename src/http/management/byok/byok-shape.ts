import { z } from 'zod';
import type { ByokKeyRecord, ByokKeyWish } from '../../../accounts/byok-keys.ts';
import { drawTime } from '../keys/key-shape.ts';

const FILTER_ENTRIES_MAX = 100;
const NAME_CHARS_MAX = 255;
const ENTRY_CHARS_MAX = 256;
/** A service account is 2 to 3 kB; a list of deployments may be some times that. */
const KEY_CHARS_MAX = 65_536;
const SORT_ORDER_MAX = 1_000_000;

/** The path of one credential. An impossible id is an unknown one: 404. */
export const byokPathSchema = z.strictObject({ id: z.string().describe('The `id` of the credential.') });

export const providerSchema = z
  .string()
  .min(1)
  .max(ENTRY_CHARS_MAX)
  .describe('The slug of a provider, as GET /providers lists it.');

export const credentialSchema = z
  .string()
  .min(1)
  .max(KEY_CHARS_MAX)
  .describe('The credential: a key, or JSON where a provider takes more than a key. It is never shown again.');

const entries = z.array(z.string().min(1).max(ENTRY_CHARS_MAX)).max(FILTER_ENTRIES_MAX).nullable();
const hashes = z
  .array(z.string().regex(/^[a-f0-9]{64}$/, { error: 'must be 64 lower-case hex digits' }))
  .min(1)
  .max(FILTER_ENTRIES_MAX)
  .nullable();

/** What may be set and changed alike. @source areas.md 3 */
export const settingsShape = {
  name: z.string().max(NAME_CHARS_MAX).nullable().optional(),
  disabled: z.boolean().optional(),
  is_fallback: z.boolean().optional().describe("Used after the gateway's own credential has failed."),
  always_use: z
    .boolean()
    .optional()
    .describe("Where the credential may be used, the gateway's own of that provider is not."),
  sort_order: z.int().min(0).max(SORT_ORDER_MAX).optional().describe('The lowest of a provider is used first.'),
  allowed_models: entries.optional().describe('Slugs, permanent names or aliases of models. Null: all.'),
  allowed_api_key_hashes: hashes.optional().describe('Hashes of the keys that may use it. Null: all.'),
  allowed_user_ids: entries.optional().describe('Members whose keys may use it. Null: all.'),
};

const settingsSchema = z.strictObject(settingsShape);

/** @source areas.md 3 "Record"; reference shapes, `BYOKKey`. `always_use` is ours */
export const byokKeySchema = z
  .strictObject({
    id: z.uuid(),
    provider: z.string(),
    workspace_id: z.uuid().nullable().describe('Null: every workspace.'),
    label: z.string().describe('A masked excerpt of the credential.'),
    name: z.string().nullable(),
    disabled: z.boolean(),
    is_fallback: z.boolean(),
    always_use: z.boolean(),
    sort_order: z.int(),
    allowed_models: z.array(z.string()).nullable(),
    allowed_api_key_hashes: z.array(z.string()).nullable(),
    allowed_user_ids: z.array(z.string()).nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'ByokKey' });

export function readSettings(sent: z.output<typeof settingsSchema>): Omit<ByokKeyWish, 'key'> {
  return {
    name: sent.name,
    disabled: sent.disabled,
    isFallback: sent.is_fallback,
    alwaysUse: sent.always_use,
    sortOrder: sent.sort_order,
    allowedModels: sent.allowed_models,
    allowedApiKeyHashes: sent.allowed_api_key_hashes,
    allowedUserIds: sent.allowed_user_ids,
  };
}

export function drawByokKey(record: ByokKeyRecord): z.output<typeof byokKeySchema> {
  return {
    id: record.id,
    provider: record.provider,
    workspace_id: record.workspaceId,
    label: record.label,
    name: record.name,
    disabled: record.disabled,
    is_fallback: record.isFallback,
    always_use: record.alwaysUse,
    sort_order: record.sortOrder,
    allowed_models: copyOf(record.allowedModels),
    allowed_api_key_hashes: copyOf(record.allowedApiKeyHashes),
    allowed_user_ids: copyOf(record.allowedUserIds),
    created_at: drawTime(record.createdAtMs),
  };
}

function copyOf(list: readonly string[] | null): string[] | null {
  return list === null ? null : [...list];
}
