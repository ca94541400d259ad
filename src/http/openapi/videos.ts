import type { JsonObject } from '../../lib/json.ts';
import { videoJobSchema } from '../management/videos/video-shape.ts';
import type { AnySchema, SchemaComponents } from './components.ts';
import { jsonBody } from './content.ts';
import { serializeErrors } from './errors.ts';

/** `POST /videos`. */
export function serializeVideos(components: SchemaComponents, request: AnySchema, error: JsonObject): JsonObject {
  const job = {
    'application/json': { schema: components.add('VideoGenerationResponse', videoJobSchema, 'output') },
  };
  return {
    operationId: 'createVideo',
    tags: ['Videos'],
    summary: 'Begin a job that makes a clip',
    security: [{ apiKey: [] }],
    requestBody: jsonBody(components.add('VideoGenerationRequest', request, 'input')),
    responses: {
      200: { description: "The job, in the form of OpenAI's client.", content: job },
      202: { description: 'The job. `polling_url` says how it stands.', content: job },
      ...serializeErrors([400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529], error),
    },
  };
}
