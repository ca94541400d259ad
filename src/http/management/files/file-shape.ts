import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { FilePage, FileRecord } from '../../../accounts/files.ts';
import { defineFileShape, serviceFileResource } from '../../../resources/files.ts';
import { ownerShape } from '../owner.ts';

/** Two of the shapes are named after the vendors whose clients read them. @spec file-3 */
const [SERVICE, VENDOR_A, VENDOR_B] = ['service', 'openai', 'anthropic'] as const;
export type FileShape = typeof SERVICE | typeof VENDOR_A | typeof VENDOR_B;

/** The purposes that clients of vendor A send with an upload. */
export const UPLOAD_PURPOSES = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'] as const;
const PURPOSES = [...UPLOAD_PURPOSES, 'assistants_output', 'batch_output', 'fine-tune-results'] as const;
/** The purpose of a file that another version of the gateway wrote. */
const PURPOSE_DEFAULT = 'user_data';

/** The user agents of vendor A's published clients. */
const CLIENT_OF_A = /^(?:Async)?OpenAI\//;

const pageOfIds = { has_more: z.boolean(), first_id: z.string().nullable(), last_id: z.string().nullable() };

const { schema: serviceFile } = serviceFileResource;
const fileOfBResource = defineFileShape('AnthropicFile', VENDOR_B);
const { schema: fileOfB } = fileOfBResource;
const fileOfA = z
  .strictObject({
    _shape: z.literal(VENDOR_A),
    id: z.string(),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: z.int().describe('Unix seconds.'),
    expires_at: z.int().optional().describe('Unix seconds. Absent: never.'),
    filename: z.string(),
    purpose: z.enum(PURPOSES),
    status: z.literal('processed'),
  })
  .meta({ id: 'OpenAIFile' });

/** @source `@openrouter/sdk` 1.3.19, `FileResponse` */
export const fileSchema = z.union([serviceFile, fileOfA, fileOfB]).meta({ id: 'FileResponse' });

/** @source `@openrouter/sdk` 1.3.19, `FileListResponse` */
export const fileListSchema = z
  .union([
    z
      .strictObject({
        _shape: z.literal(SERVICE),
        data: z.array(serviceFile),
        ...pageOfIds,
        cursor: z.string().nullable().describe('For the next page.'),
      })
      .meta({ id: 'ServiceFileList' }),
    z
      .strictObject({ _shape: z.literal(VENDOR_A), object: z.literal('list'), data: z.array(fileOfA), ...pageOfIds })
      .meta({ id: 'OpenAIFileList' }),
    z
      .strictObject({
        _shape: z.literal(VENDOR_B),
        data: z.array(fileOfB),
        ...pageOfIds,
        next_page: z.string().nullable().describe('The parameter of later clients of the vendor.'),
      })
      .meta({ id: 'AnthropicFileList' }),
  ])
  .meta({ id: 'FileListResponse' });

const deletedShape = { id: z.string(), type: z.literal('file_deleted') };

/** @source `@openrouter/sdk` 1.3.19, `FileDeleteResponse` */
export const fileDeletedSchema = z
  .union([
    z.strictObject({ _shape: z.literal(SERVICE), ...deletedShape }).meta({ id: 'ServiceFileDeleted' }),
    z
      .strictObject({
        _shape: z.literal(VENDOR_A),
        id: z.string(),
        object: z.literal('file'),
        deleted: z.literal(true),
      })
      .meta({ id: 'OpenAIFileDeleted' }),
    z.strictObject({ _shape: z.literal(VENDOR_B), ...deletedShape }).meta({ id: 'AnthropicFileDeleted' }),
  ])
  .meta({ id: 'FileDeleteResponse' });

export const filePathSchema = z.strictObject({ file_id: z.string().min(1) });

/** The query parameters of every files route. */
export const fileQueryShape = {
  ...ownerShape,
  provider: z
    .undefined({ error: 'is valid but not supported by this version of the gateway: files are stored here' })
    .optional(),
  purpose: z.string().optional().describe('The parameter of vendor clients; it also selects that shape.'),
  beta: z.string().optional().describe('Sent by a client of a vendor, and ignored.'),
};
export const fileQuerySchema = z.strictObject(fileQueryShape);

interface ShapeOptions {
  readonly headers: IncomingHttpHeaders;
  /** The purpose that the client sent in the form or in the query. */
  readonly purpose: string | undefined;
}

/**
 * Picks the shape by the purpose and the user agent: clients of vendor A send a purpose only with an upload. @spec
 * file-3
 */
export function shapeFor({ headers, purpose }: ShapeOptions): FileShape {
  if (headers['anthropic-version'] !== undefined) return VENDOR_B;
  return purpose !== undefined || CLIENT_OF_A.test(headers['user-agent'] ?? '') ? VENDOR_A : SERVICE;
}

export function serializeFile(file: FileRecord, shape: FileShape): z.output<typeof fileSchema> {
  if (shape === VENDOR_A) return serializeForA(file);
  return shape === VENDOR_B ? serializeForB(file) : serializeOwn(file);
}

function serializeOwn(file: FileRecord): z.output<typeof serviceFile> {
  return serviceFileResource.serialize(file, { _shape: SERVICE, type: 'file' });
}

function serializeForB(file: FileRecord): z.output<typeof fileOfB> {
  return fileOfBResource.serialize(file, { _shape: VENDOR_B, type: 'file' });
}

function serializeForA(file: FileRecord): z.output<typeof fileOfA> {
  const { expiresAtMs } = file;
  return {
    _shape: VENDOR_A,
    id: file.id,
    object: 'file',
    bytes: file.sizeBytes,
    created_at: Math.floor(file.createdAtMs / 1_000),
    ...(expiresAtMs !== null && { expires_at: Math.floor(expiresAtMs / 1_000) }),
    filename: file.filename,
    purpose: PURPOSES.find((one) => one === file.purpose) ?? PURPOSE_DEFAULT,
    status: 'processed',
  };
}

export function serializeFiles({ rows, hasMore }: FilePage, shape: FileShape): z.output<typeof fileListSchema> {
  const ids = { has_more: hasMore, first_id: rows[0]?.id ?? null, last_id: rows.at(-1)?.id ?? null };
  if (shape === VENDOR_A) return { _shape: VENDOR_A, object: 'list', data: rows.map(serializeForA), ...ids };
  const next = hasMore ? ids.last_id : null;
  if (shape === VENDOR_B) return { _shape: VENDOR_B, data: rows.map(serializeForB), ...ids, next_page: next };
  return { _shape: SERVICE, data: rows.map(serializeOwn), ...ids, cursor: next };
}

export function serializeDeleted({ id }: FileRecord, shape: FileShape): z.output<typeof fileDeletedSchema> {
  if (shape === VENDOR_A) return { _shape: VENDOR_A, id, object: 'file', deleted: true };
  const type = 'file_deleted' as const;
  return shape === VENDOR_B ? { _shape: VENDOR_B, id, type } : { _shape: SERVICE, id, type };
}
