import { z } from 'zod';
import { jsonObject, nullable, text, time } from './columns.ts';
import { defineResource, member, type RowOf } from './resource.ts';

/** One change, with the key that made it. It holds no secret. Only ever inserted. @spec workspace-14 */
export const auditEventResource = defineResource('AuditEvent', {
  id: member(text, { shown: z.string() }),
  at_ms: member(time, { shown: z.iso.datetime() }),
  /** Null: the change was not made with a key. */
  actor_key_hash: member(nullable(text), {}),
  actor_label: member(text, {}),
  actor: z.strictObject({
    key_hash: z.string().nullable().describe('Null: not by a key.'),
    label: z.string(),
  }),
  action: member(text, { shown: z.string().describe('The operation, as this document calls it: `updateKey`.') }),
  subject: member(text, { shown: z.string().describe('What was changed: `/keys/HASH`.') }),
  /** The changed fields and their new values. */
  changes: member(jsonObject, {
    shown: z.record(z.string(), z.unknown()).describe('Fields and what they were set to; secrets only by name.'),
  }),
});

export type AuditEvent = RowOf<typeof auditEventResource>;
