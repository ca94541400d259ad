import { z } from 'zod';
import { flag, integer, nullable, text, time } from './columns.ts';
import { defineResource, member, type RowOf } from './resource.ts';

/**
 * Files that callers stored to refer to them later, and files that tools made for them. The content is in a file of
 * `store/accounts/blobs.ts`.
 */
const fileMembers = {
  id: member(text, { shown: z.string() }),
  type: z.literal('file'),
  workspace_id: member(text, {}),
  filename: member(text, { shown: z.string() }),
  /** Empty while the file is written. */
  mime_type: member(text, { shown: z.string().describe('Found from the bytes.') }),
  size_bytes: member(integer, { shown: z.int() }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  made_here: member(flag, {
    as: 'downloadable',
    shown: z.boolean().describe('A tool made it; what was uploaded cannot be downloaded.'),
  }),
  /** The purpose in the terms of one vendor. */
  purpose: member(text, {}),
  key_hash: member(text, {}),
  expires_at_ms: member(nullable(integer), {}),
};

/** The shapes of callers differ by `_shape` alone. @spec file-3 */
export function defineFileShape<const Shape extends string>(id: string, shape: Shape) {
  return defineResource(id, { _shape: z.literal(shape), ...fileMembers });
}

export const serviceFileResource = defineFileShape('ServiceFile', 'service');
export type FileRow = RowOf<typeof serviceFileResource>;
