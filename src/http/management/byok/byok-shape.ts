import { z } from 'zod';
import type { ByokKeyRecord } from '../../../accounts/byok/byok-keys.ts';
import { byokKeyResource } from '../../../resources/byok-keys.ts';

/** A service account has 2 to 3 kB; a list of deployments may have several times that. */
const KEY_CHARS_MAX = 65_536;

export const { schema: byokKeySchema } = byokKeyResource;

/** The path of one credential. An invalid id is an unknown one: 404. */
export const byokPathSchema = z.strictObject({ id: z.string().describe('The `id` of the credential.') });

export const credentialSchema = z
  .string()
  .min(1)
  .max(KEY_CHARS_MAX)
  .describe('The credential: a key, or JSON where a provider takes more than a key. It is never shown again.');

export function serializeByokKey(record: ByokKeyRecord): z.output<typeof byokKeySchema> {
  return byokKeyResource.serialize(record, { is_required: record.alwaysUse, is_byok_only: false, declared_zdr: null });
}
