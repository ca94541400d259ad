import { z } from 'zod';
import { ownerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { filePathSchema, fileQuerySchema } from './file-shape.ts';

const bytes = z.string().meta({ format: 'binary' });

export const downloadFileContent = defineRoute({
  method: 'GET',
  path: '/files/{file_id}/content',
  scope: 'any',
  role: 'member',
  operationId: 'downloadFileContent',
  tag: 'Files',
  summary: 'The bytes of a file that a tool made',
  params: filePathSchema,
  query: fileQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'The bytes.', schema: bytes, contentType: 'application/octet-stream' } },
  errors: [400, 404, 503],
  async handle({ params, query, ...context }) {
    const { file, content } = await context.services.files.download(await ownerOf(query, context), params.file_id);
    return {
      status: 200,
      body: content,
      contentType: file.mimeType.startsWith('text/') ? `${file.mimeType}; charset=utf-8` : file.mimeType,
      headers: {
        'content-length': String(file.sizeBytes),
        // A model's output must not run in a browser as a page of the gateway.
        'content-disposition': `attachment; filename*=UTF-8''${encodeName(file.filename)}`,
        'x-content-type-options': 'nosniff',
      },
    };
  },
});

/** Encodes what `encodeURIComponent` leaves and a parameter may not hold. @source RFC 8187 */
export function encodeName(filename: string): string {
  return encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
