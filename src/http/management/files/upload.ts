import { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { FileInput } from '../../../accounts/files.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { checkShape } from '../../../wire/gateway/validation/check-shape.ts';
import { ownerOf } from '../owner.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { serializeFile, fileQuerySchema, fileSchema, shapeFor, UPLOAD_PURPOSES } from './file-shape.ts';
import { readForm } from './read-form.ts';

/** A file of 100 MB and the form around it. */
const FORM_BYTES_MAX = 101 * 1_024 * 1_024;
/** The minimum of the vendor whose clients send this field. */
const EXPIRES_AFTER_S_MIN = 3_600;
const EXPIRES_AFTER_S_MAX = 2_592_000;

/** The fields beside the file. Fields of other clients are ignored. */
const fields = z.object({
  purpose: z.enum(UPLOAD_PURPOSES).optional(),
  'expires_after[anchor]': z.literal('created_at').optional(),
  'expires_after[seconds]': z.coerce.number().int().min(EXPIRES_AFTER_S_MIN).max(EXPIRES_AFTER_S_MAX).optional(),
});

export const uploadFile = defineRoute({
  method: 'POST',
  path: '/files',
  scope: 'any',
  role: 'member',
  operationId: 'uploadFile',
  tag: 'Files',
  summary: 'Store a file, to name it in requests',
  params: NOTHING,
  query: fileQuerySchema,
  body: z.instanceof(IncomingMessage, { error: 'must be a form with a file' }),
  upload: {
    bytesMax: FORM_BYTES_MAX,
    form: z.object({ file: z.string().meta({ format: 'binary' }), ...fields.shape }),
  },
  responses: { 200: { description: 'The file, once it is on the disk.', schema: fileSchema } },
  errors: [400, 404, 408, 413, 429, 503],
  auditsManagers: true,
  async handle({ query, body, headers, ...context }) {
    const form = readForm(body);
    try {
      // Checked once the form is read, so that a caller that disconnects meanwhile is noticed.
      const owner = await ownerOf(query, context);
      const file = await form.file();
      const parseFields = (): z.output<typeof fields> => checkShape(fields, form.fields(), { root: 'form' });
      const input = (): FileInput => {
        const { purpose = query.purpose, 'expires_after[seconds]': seconds } = parseFields();
        return {
          filename: file.filename,
          purpose,
          expiresAfterMs: seconds === undefined ? undefined : seconds * 1_000,
        };
      };
      const stored = await context.services.files.upload(owner, { chunks: file.chunks, input });
      const shape = shapeFor({ headers, purpose: parseFields().purpose ?? query.purpose });
      return { status: 200, body: serializeFile(stored, shape), subject: `/files/${stored.id}` };
    } catch (error) {
      // The caller disconnected. That is no bug to report, and no response reaches the caller.
      if (body.destroyed && !body.complete)
        throw new GatewayError('invalid_request', 'The request body broke off.', { cause: error });
      throw error;
    } finally {
      form.close();
    }
  },
});
