import { z } from 'zod';
import { CREDIT_USD_MAX, NOTE_CHARS_MAX } from '../../../accounts/limits/credits.ts';
import { ledgerEntryResource, type LedgerEntry } from '../../../resources/ledger-entries.ts';

export const amountSchema = z.number().positive().max(CREDIT_USD_MAX).describe('USD, in steps of 0.000000001.');
export const noteSchema = z.string().min(1).max(NOTE_CHARS_MAX).describe('Why.');

export const { schema: entrySchema } = ledgerEntryResource;

export function serializeEntry(entry: LedgerEntry): z.output<typeof entrySchema> {
  return ledgerEntryResource.serialize(entry, {});
}
