import { ownerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeDeleted, fileDeletedSchema, filePathSchema, fileQuerySchema, shapeFor } from './file-shape.ts';

export const deleteFile = defineRoute({
  method: 'DELETE',
  path: '/files/{file_id}',
  scope: 'any',
  role: 'member',
  operationId: 'deleteFile',
  tag: 'Files',
  summary: 'Delete a file, for good',
  params: filePathSchema,
  query: fileQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'It is gone.', schema: fileDeletedSchema } },
  errors: [400, 404],
  auditsManagers: true,
  async handle({ params, query, headers, ...context }) {
    const file = await context.services.files.delete(await ownerOf(query, context), params.file_id);
    return { status: 200, body: serializeDeleted(file, shapeFor({ headers, purpose: query.purpose })) };
  },
});
