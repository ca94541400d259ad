import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import { LIVE_EVENT_SCHEMAS, liveQuerySchema } from '../console/live-events.ts';
import type { SchemaComponents } from './components.ts';
import { CONSOLE_OPERATION, CONSOLE_STATUSES } from './console.ts';
import { serializeErrors } from './errors.ts';
import { serializeParameters } from './management.ts';

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The `id` of the event seen last: the stream goes on behind it, or a `gap` reports that rows are missing.',
  schema: { type: 'string' },
};

/** `GET /ui/api/live`, which answers with a stream and is therefore no route of the console's list. */
export function serializeLive(components: SchemaComponents, error: JsonObject): JsonObject {
  const { rows, counts, gap } = LIVE_EVENT_SCHEMAS;
  const schema = components.add('LiveEvent', z.union([rows, counts, gap]), 'output');
  return {
    operationId: 'openLiveView',
    summary: 'Stream what happens, as it happens',
    ...CONSOLE_OPERATION,
    parameters: [
      ...serializeParameters(components.inline('OpenLiveViewQuery', liveQuerySchema, 'input'), 'query'),
      LAST_EVENT_ID,
    ],
    responses: {
      200: {
        description:
          'Server-sent events, named `rows`, `counts` (each second, of all that the session sees, whatever the filters) and `gap`: the data of each.',
        content: { 'text/event-stream': { schema } },
      },
      ...serializeErrors([400, 401, 429, ...CONSOLE_STATUSES], error),
    },
  };
}
