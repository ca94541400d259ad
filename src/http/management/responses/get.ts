import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import { encodeStoredStream } from '../../../wire/responses/response/stored-stream.ts';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { includeShape, responsePathSchema, responseSchema } from './response-path.ts';

export const getResponse = defineRoute({
  method: 'GET',
  path: '/responses/{response_id}',
  scope: 'normal',
  operationId: 'getResponse',
  tag: 'Responses',
  summary: 'A response that was kept',
  params: responsePathSchema,
  query: z.strictObject({
    ...includeShape,
    stream: z.enum(['true', 'false']).optional().describe('As a stream of events, from its beginning.'),
    starting_after: z
      .string()
      .regex(/^\d{1,15}$/, 'must be a whole number from 0 on')
      .optional()
      .describe('The number of the last event of a stream that is resumed.'),
    include_obfuscation: z.string().optional().describe('Ignored.'),
  }),
  body: NO_BODY,
  namesBareParameters: true,
  responses: {
    200: { description: 'The response; with `stream=true` its events as server-sent events.', schema: responseSchema },
  },
  errors: [400, 404],
  async handle({ params, query, principal, services }) {
    const response = await services.storedResponses.find(callerOf(principal), params.response_id);
    if (query.stream !== 'true') return { status: 200, body: response };
    if (query.starting_after !== undefined)
      throw invalid('starting_after', 'cannot be resumed: the events of this response are not kept. Leave it out');
    return { status: 200, contentType: 'text/event-stream', body: encodeStoredStream(response) };
  },
});
