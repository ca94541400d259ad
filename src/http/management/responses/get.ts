import { Readable } from 'node:stream';
import { z } from 'zod';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { includeShape, responsePathSchema, responseSchema } from './response-path.ts';

export const getResponse = defineRoute({
  method: 'GET',
  path: '/responses/{response_id}',
  scope: 'normal',
  role: 'member',
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
  readsContentAs: 'readResponse',
  responses: {
    200: { description: 'The response; with `stream=true` its events as server-sent events.', schema: responseSchema },
  },
  errors: [400, 404],
  async handle({ params, query, principal, services }) {
    const { storedResponses } = services;
    const subject = `/responses/${params.response_id}`;
    const caller = callerOf(principal);
    if (query.stream === 'true') {
      const { starting_after: after } = query;
      const frames = await storedResponses.stream(
        caller,
        params.response_id,
        after === undefined ? after : Number(after),
      );
      return {
        status: 200,
        contentType: 'text/event-stream',
        subject,
        headers: { 'x-accel-buffering': 'no' },
        body: typeof frames === 'string' ? frames : Readable.from(frames),
      };
    }
    const { response, pollAfterMs } = await storedResponses.find(caller, params.response_id);
    return {
      status: 200,
      body: response,
      subject,
      // Agents' clients of the vendor read it.
      ...(pollAfterMs !== undefined && { headers: { 'openai-poll-after-ms': String(pollAfterMs) } }),
    };
  },
});
