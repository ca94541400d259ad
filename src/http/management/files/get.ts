import { ownerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeFile, filePathSchema, fileQuerySchema, fileSchema, shapeFor } from './file-shape.ts';

export const getFileMetadata = defineRoute({
  method: 'GET',
  path: '/files/{file_id}',
  scope: 'any',
  role: 'member',
  operationId: 'getFileMetadata',
  tag: 'Files',
  summary: 'What is known of a file',
  params: filePathSchema,
  query: fileQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'The file.', schema: fileSchema } },
  errors: [400, 404],
  async handle({ params, query, headers, ...context }) {
    const file = await context.services.files.get(await ownerOf(query, context), params.file_id);
    return { status: 200, body: serializeFile(file, shapeFor({ headers, purpose: query.purpose })) };
  },
});
