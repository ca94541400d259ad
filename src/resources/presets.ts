import { z } from 'zod';
import { integer, jsonObject, nullable, text, textOf, time } from './columns.ts';
import { defineResource, member, type PatchOf, type RowOf } from './resource.ts';

const NAME_CHARS_MAX = 256;
const DESCRIPTION_CHARS_MAX = 1_000;

const status = z.enum(['active', 'disabled', 'archived']);

/** Named sets of request fields. Their versions hold them. @spec preset-4; `@openrouter/sdk` 1.3.19, `Preset` */
export const presetResource = defineResource('Preset', {
  id: member(text, { shown: z.uuid() }),
  slug: member(text, { shown: z.string() }),
  name: member(text, { shown: z.string(), update: z.string().min(1).max(NAME_CHARS_MAX) }),
  description: member(nullable(text), {
    initial: null,
    shown: z.string().nullable(),
    update: z.string().max(DESCRIPTION_CHARS_MAX).nullable(),
  }),
  status: member(textOf<z.output<typeof status>>(), {
    initial: 'active',
    shown: status,
    update: status.optional().describe('Only active ones can be used.'),
  }),
  status_updated_at_ms: member(nullable(time), { initial: null, shown: z.iso.datetime().nullable() }),
  creator_user_id: member(nullable(text), { shown: z.string().nullable() }),
  workspace_id: member(text, { shown: z.string().nullable() }),
  designated_version_id: member(nullable(text), {
    initial: null,
    shown: z.uuid().nullable().describe('The version in use.'),
  }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at_ms: member(time, { shown: z.iso.datetime() }),
});

/** A version never changes. @source `@openrouter/sdk` 1.3.19, `PresetDesignatedVersion` */
export const presetVersionResource = defineResource('PresetVersion', {
  id: member(text, { shown: z.uuid() }),
  preset_id: member(text, { shown: z.uuid() }),
  creator_id: member(text, { shown: z.string().describe('The member whose key wrote it, else the account.') }),
  /** From 1. */
  version: member(integer, { shown: z.int().min(1) }),
  system_prompt: member(nullable(text), { shown: z.string().nullable() }),
  config: member(jsonObject, {
    shown: z.record(z.string(), z.unknown()).describe('Fields of a request, as they were written.'),
  }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at: z.iso.datetime(),
});

export type PresetRow = RowOf<typeof presetResource>;
export type PresetVersionRow = RowOf<typeof presetVersionResource>;
export type PresetPatch = PatchOf<typeof presetResource>;
