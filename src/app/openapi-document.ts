import { buildOpenApi } from '../http/openapi/openapi.ts';
import { CONSOLE_ROUTES } from '../http/console/console-routes.ts';
import { MANAGEMENT_ROUTES } from '../http/routes.ts';
import type { JsonObject } from '../lib/json.ts';
import { pluginSchema } from '../plugins/index.ts';
import { chatChunkSchema, chatResultSchema } from '../wire/chat/response/response-schema.ts';
import { chatRequestSchema } from '../wire/chat/request/request-schema.ts';
import { imageSchema } from '../wire/image/request-shape.ts';
import { transcriptionSchema } from '../wire/speech-to-text/request-in.ts';
import { speechSchema } from '../wire/text-to-speech/request-in.ts';
import { embeddingsSchema } from '../wire/embeddings/request-in.ts';
import { messagesEventSchema, messagesResultSchema } from '../wire/messages/response/response-schema.ts';
import { countTokensSchema, createRequestSchema } from '../wire/messages/request/request-schema.ts';
import { videoSchema } from '../wire/video/request-in.ts';
import { decisionsSchema } from '../wire/decisions/request-in.ts';
import { rerankSchema } from '../wire/rerank/request-in.ts';
import { responsesRequestSchema } from '../wire/responses/request/request-schema.ts';
import { responsesEventSchema, responsesResultSchema } from '../wire/responses/response/response-schema.ts';

/** Of the interface, not of the program. @spec workspace-16 */
const INTERFACE_VERSION = '1.0.0';

/** Everything that the gateway answers, from the schemas that check it. Takes a moment: callers keep the result. */
export function openApiDocument(): JsonObject {
  return buildOpenApi({
    routes: MANAGEMENT_ROUTES,
    consoleRoutes: CONSOLE_ROUTES,
    generation: {
      chat: {
        request: chatRequestSchema({ plugin: pluginSchema }),
        response: chatResultSchema,
        event: chatChunkSchema,
      },
      messages: {
        request: createRequestSchema({ plugin: pluginSchema }),
        response: messagesResultSchema,
        event: messagesEventSchema,
      },
      responses: {
        request: responsesRequestSchema({ plugin: pluginSchema }),
        response: responsesResultSchema,
        event: responsesEventSchema,
      },
    },
    countTokens: countTokensSchema,
    embeddings: embeddingsSchema,
    videos: videoSchema,
    images: imageSchema,
    audio: { transcription: transcriptionSchema, speech: speechSchema },
    rerank: rerankSchema,
    decisions: decisionsSchema,
    version: INTERFACE_VERSION,
  });
}
