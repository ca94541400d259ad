import { z } from 'zod';
import type { FullPreset, Preset, PresetVersion } from '../../../accounts/presets.ts';
import { drawTime } from '../keys/key-shape.ts';
import { ownerShape } from '../owner.ts';

/** The path of one preset. An impossible slug is an unknown one: 404. */
export const presetPathSchema = z.strictObject({
  slug: z.string().min(1).describe("The slug of a preset of the key's workspace."),
});

export const statusSchema = z.enum(['active', 'disabled', 'archived']);

const presetShape = {
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: statusSchema,
  status_updated_at: z.iso.datetime().nullable(),
  creator_user_id: z.string().nullable(),
  workspace_id: z.string().nullable(),
  designated_version_id: z.uuid().nullable().describe('The version in use.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

/** @source areas.md 7; reference shapes, `Preset` */
export const presetSchema = z.strictObject(presetShape).meta({ id: 'Preset' });

/** @source reference shapes, `PresetDesignatedVersion` */
export const versionSchema = z
  .strictObject({
    id: z.uuid(),
    preset_id: z.uuid(),
    creator_id: z.string().describe('The member whose key wrote it, else the account.'),
    version: z.int().min(1),
    system_prompt: z.string().nullable(),
    config: z.record(z.string(), z.unknown()).describe('Members of a request, in the words that they were written in.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'PresetVersion' });

/** @source reference shapes, `PresetWithDesignatedVersion` */
export const fullPresetSchema = z
  .strictObject({ ...presetShape, designated_version: versionSchema.nullable() })
  .meta({ id: 'PresetWithDesignatedVersion' });

export function drawPreset(row: Preset): z.output<typeof presetSchema> {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status,
    status_updated_at: row.statusUpdatedAtMs === null ? null : drawTime(row.statusUpdatedAtMs),
    creator_user_id: row.creatorUserId,
    workspace_id: row.workspaceId,
    designated_version_id: row.designatedVersionId,
    created_at: drawTime(row.createdAtMs),
    updated_at: drawTime(row.updatedAtMs),
  };
}

/** A version never changes. */
export function drawVersion(row: PresetVersion): z.output<typeof versionSchema> {
  return {
    id: row.id,
    preset_id: row.presetId,
    creator_id: row.creatorId,
    version: row.version,
    system_prompt: row.systemPrompt,
    config: { ...row.config },
    created_at: drawTime(row.createdAtMs),
    updated_at: drawTime(row.createdAtMs),
  };
}

export function drawFullPreset({ preset, designated }: FullPreset): z.output<typeof fullPresetSchema> {
  return { ...drawPreset(preset), designated_version: designated === null ? null : drawVersion(designated) };
}

export const presetQuerySchema = z.strictObject(ownerShape);

/** What an audit event calls a preset: another workspace may have one of the same slug. */
export function subjectOf({ slug, workspaceId }: Pick<Preset, 'slug' | 'workspaceId'>): string {
  return `/presets/${slug}?workspace_id=${workspaceId}`;
}
