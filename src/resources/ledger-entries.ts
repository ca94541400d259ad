import { z } from 'zod';
import { money, nullable, text, textOf, time } from './columns.ts';
import { defineResource, member, type RowOf } from './resource.ts';

export const ENTRY_KINDS = [
  'purchase',
  'grant',
  'adjustment',
  'transfer_in',
  'transfer_out',
  'usage',
  'byok_fee',
  'refund',
  'expiry',
] as const;
const kind = z.enum(ENTRY_KINDS);

/** Money that came or went, by one reason. Only ever inserted. @spec money-43 */
export const ledgerEntryResource = defineResource('CreditEntry', {
  id: member(text, { shown: z.string() }),
  at_ms: member(time, { as: 'created_at', shown: z.iso.datetime() }),
  account_id: member(text, {}),
  kind: member(textOf<z.output<typeof kind>>(), { shown: kind }),
  amount_nano_usd: member(money, {
    as: 'amount',
    shown: z.number().describe('USD, signed: what was used is negative.'),
  }),
  /** At most one entry of kind `usage` and one of `byok_fee` have the same. */
  generation_id: member(nullable(text), { shown: z.string().nullable() }),
  key_hash: member(nullable(text), { shown: z.string().nullable() }),
  workspace_id: member(nullable(text), { shown: z.string().nullable() }),
  note: member(nullable(text), { shown: z.string().nullable() }),
  author: member(nullable(text), {
    shown: z.string().nullable().describe('The hash of a management key, or `cli`. Null: the gateway itself.'),
  }),
});

export type LedgerEntry = RowOf<typeof ledgerEntryResource>;
export type EntryKind = LedgerEntry['kind'];
