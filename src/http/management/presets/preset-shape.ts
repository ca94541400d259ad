import { z } from 'zod';
import type { FullPreset, Preset, PresetVersion } from '../../../accounts/presets.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { presetResource, presetVersionResource } from '../../../resources/presets.ts';
import { ownerShape } from '../owner.ts';

/** The path of one preset. An invalid slug is an unknown one: 404. */
export const presetPathSchema = z.strictObject({
  slug: z.string().min(1).describe("The slug of a preset of the key's workspace."),
});

export const { schema: presetSchema } = presetResource;
export const { schema: versionSchema } = presetVersionResource;

/** @source `@openrouter/sdk` 1.3.19, `PresetWithDesignatedVersion` */
export const fullPresetSchema = z
  .strictObject({ ...presetSchema.shape, designated_version: versionSchema.nullable() })
  .meta({ id: 'PresetWithDesignatedVersion' });

export function serializePreset(row: Preset): z.output<typeof presetSchema> {
  return presetResource.serialize(row, {});
}

export function serializeVersion(row: PresetVersion): z.output<typeof versionSchema> {
  return presetVersionResource.serialize(row, { updated_at: serializeTime(row.createdAtMs) });
}

export function serializeFullPreset({ preset, designated }: FullPreset): z.output<typeof fullPresetSchema> {
  return { ...serializePreset(preset), designated_version: designated === null ? null : serializeVersion(designated) };
}

export const presetQuerySchema = z.strictObject(ownerShape);

/** Names a preset in audit events: another workspace may have one with the same slug. */
export function subjectOf({ slug, workspaceId }: Pick<Preset, 'slug' | 'workspaceId'>): string {
  return `/presets/${slug}?workspace_id=${workspaceId}`;
}
