import { z } from 'zod';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { readPresetContent } from '../../../wire/gateway/preset-config.ts';
import { defineRoute, type ManagementRoute } from '../route.ts';
import { drawFullPreset, fullPresetSchema, ownerOf, presetPathSchema, workspaceQuerySchema } from './preset-shape.ts';

const bodySchema = z
  .looseObject({})
  .describe('An ordinary request of the format. Its settings and instructions are kept, and nothing is generated.');

function writerOf(format: ClientFormatId, path: string, operationId: string): ManagementRoute {
  return defineRoute({
    method: 'POST',
    path: `/presets/{slug}${path}`,
    scope: 'any',
    operationId,
    tag: 'Presets',
    summary: `Write a preset from a request of ${path}: a new one, or the next version of one that there is`,
    params: presetPathSchema,
    query: workspaceQuerySchema,
    body: bodySchema,
    responses: {
      200: {
        description: 'The preset with the version that was written, which is now in use.',
        schema: z.strictObject({ data: fullPresetSchema }),
      },
    },
    errors: [400, 409, 413],
    async handle({ params, query, body, services, ...context }) {
      if (!isJsonObject(body)) throw invalid('body', 'must be an object');
      services.checkRequest(format, body);
      const content = readPresetContent(format, body);
      const written = await services.presets.write(ownerOf(query, context), params.slug, content);
      return { status: 200, body: { data: drawFullPreset(written) } };
    },
  });
}

export const writePresetFromChat = writerOf('chat', '/chat/completions', 'createPresetFromChat');
export const writePresetFromMessages = writerOf('messages', '/messages', 'createPresetFromMessages');
