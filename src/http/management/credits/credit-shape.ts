import { z } from 'zod';
import { CREDIT_USD_MAX, NOTE_CHARS_MAX, type CreditEntry } from '../../../accounts/credits.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { drawTime } from '../keys/key-shape.ts';

const KINDS = [
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

export const amountSchema = z.number().positive().max(CREDIT_USD_MAX).describe('USD, in steps of 0.000000001.');
export const noteSchema = z.string().min(1).max(NOTE_CHARS_MAX).describe('Why.');

/** @source areas.md 2 "Ledger" */
export const entrySchema = z
  .strictObject({
    id: z.string(),
    created_at: z.iso.datetime(),
    kind: z.enum(KINDS),
    amount: z.number().describe('USD, signed: what was used is negative.'),
    generation_id: z.string().nullable(),
    key_hash: z.string().nullable(),
    workspace_id: z.string().nullable(),
    note: z.string().nullable(),
    author: z.string().nullable().describe('The hash of a management key, or `cli`. Null: the gateway itself.'),
  })
  .meta({ id: 'CreditEntry' });

export function drawEntry(entry: CreditEntry): z.output<typeof entrySchema> {
  return {
    id: entry.id,
    created_at: drawTime(entry.atMs),
    kind: entry.kind,
    amount: usdFromNano(entry.amountNanoUsd),
    generation_id: entry.generationId,
    key_hash: entry.keyHash,
    workspace_id: entry.workspaceId,
    note: entry.note,
    author: entry.author,
  };
}
