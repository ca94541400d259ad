import { z } from 'zod';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { decodePreset } from '../../../wire/gateway/preset/preset-config.ts';
import { ownerOf } from '../owner.ts';
import { defineRoute, type ManagementRoute } from '../route.ts';
import {
  serializeFullPreset,
  fullPresetSchema,
  presetPathSchema,
  presetQuerySchema,
  subjectOf,
} from './preset-shape.ts';

/** The format of the route checks the body. */
const bodySchema = z.looseObject({});

function writerOf(format: ClientFormatId, path: string, operationId: string): ManagementRoute {
  return defineRoute({
    method: 'POST',
    path: `/presets/{slug}${path}`,
    scope: 'any',
    role: 'member',
    operationId,
    tag: 'Presets',
    summary: `Write a preset from the settings and instructions of a request of ${path}, which is not run: a new one, or the next version`,
    params: presetPathSchema,
    query: presetQuerySchema,
    body: bodySchema,
    responses: {
      200: {
        description: 'The preset with the version that was written, which is now in use.',
        schema: z.strictObject({ data: fullPresetSchema }),
      },
    },
    errors: [400, 404, 409, 413],
    auditsManagers: true,
    takesRequestOf: format,
    async handle({ params, query, body, ...context }) {
      if (!isJsonObject(body)) throw invalid('body', 'must be an object');
      const { presets, checkRequest } = context.services;
      checkRequest(format, body);
      const content = decodePreset(format, body);
      const written = await presets.write(await ownerOf(query, context), params.slug, content);
      return { status: 200, body: { data: serializeFullPreset(written) }, subject: subjectOf(written.preset) };
    },
  });
}

export const writePresetFromChat = writerOf('chat', '/chat/completions', 'createPresetFromChat');
export const writePresetFromMessages = writerOf('messages', '/messages', 'createPresetFromMessages');
export const writePresetFromResponses = writerOf('responses', '/responses', 'createPresetFromResponses');
