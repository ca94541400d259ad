import { z } from 'zod';
import { EVENT_TYPES } from '../../../notifications/event-types.ts';
import { channelResource, SEVERITIES } from '../../../resources/notification-channels.ts';
import { pageQuerySchema } from '../page.ts';
import { defineDelete, defineGet, defineList } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import {
  channelAnswerSchema,
  channelPathSchema,
  channelSchema,
  serializeAnswer,
  serializeChannel,
  urlMember,
} from './channel-shape.ts';

const TAG = 'Notifications';
const shown = { schema: channelSchema, serialize: serializeChannel };

export const listChannels = defineList({
  path: '/notifications/channels',
  operationId: 'listNotificationChannels',
  tag: TAG,
  summary: 'List where operators are notified, oldest first',
  params: NOTHING,
  query: pageQuerySchema,
  description: 'A page of channels.',
  ...shown,
  find: ({ notifications }, window) => notifications.channels.list(window),
});

export const getChannel = defineGet({
  path: '/notifications/channels/{id}',
  operationId: 'getNotificationChannel',
  tag: TAG,
  summary: 'Get one channel, its address masked',
  params: channelPathSchema,
  description: 'The channel.',
  ...shown,
  find: ({ notifications }, { id }) => notifications.channels.get(id),
});

export const deleteChannel = defineDelete({
  path: '/notifications/channels/{id}',
  operationId: 'deleteNotificationChannel',
  tag: TAG,
  summary: 'Delete a channel; what waits to be sent there is not sent any more',
  params: channelPathSchema,
  description: 'It is gone.',
  remove: ({ notifications }, { id }) => notifications.channels.delete(id),
});

const { name, kind, ...settings } = channelResource.createShape;

export const createChannel = defineRoute({
  method: 'POST',
  path: '/notifications/channels',
  scope: 'management',
  operationId: 'createNotificationChannel',
  tag: TAG,
  summary: 'Have operators notified somewhere; the secret of a webhook is shown this once',
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({ name, kind, url: urlMember, ...settings }).meta({ id: 'CreateNotificationChannelRequest' }),
  responses: { 201: { description: 'The channel.', schema: channelAnswerSchema } },
  errors: [400, 409],
  async handle({ body, services }) {
    const { url } = body;
    const made = await services.notifications.channels.create({
      ...channelResource.parseNew(body, services),
      ...(url !== undefined && { url }),
    });
    return { status: 201, body: serializeAnswer(made) };
  },
});

export const updateChannel = defineRoute({
  method: 'PATCH',
  path: '/notifications/channels/{id}',
  scope: 'management',
  operationId: 'updateNotificationChannel',
  tag: TAG,
  summary: 'Change a channel; what is left out stays as it is, and so does an address that is sent back masked',
  params: channelPathSchema,
  query: NOTHING,
  body: z
    .strictObject({
      ...channelResource.updateShape,
      url: urlMember,
      rotate_secret: z
        .boolean()
        .optional()
        .describe('Gives a webhook another secret. For a day both sign what is sent.'),
    })
    .meta({ id: 'UpdateNotificationChannelRequest' }),
  responses: { 200: { description: 'After the change.', schema: channelAnswerSchema } },
  errors: [400, 404, 409],
  async handle({ params, body, services }) {
    const changed = await services.notifications.channels.update(params.id, {
      ...channelResource.parsePatch(body, services),
      url: body.url,
      rotatesSecret: body.rotate_secret,
    });
    return { status: 200, body: serializeAnswer(changed) };
  },
});

export const testChannel = defineRoute({
  method: 'POST',
  path: '/notifications/channels/{id}/test',
  scope: 'management',
  operationId: 'testNotificationChannel',
  tag: TAG,
  summary: 'Send a test to a channel, whatever its quiet hours; once a minute',
  params: channelPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'What became of it.',
      schema: z.strictObject({
        data: z.strictObject({ ok: z.boolean(), status: z.int().nullable(), error: z.string().nullable() }),
      }),
    },
  },
  errors: [404, 429],
  onlyReads: true,
  async handle({ params, services }) {
    return { status: 200, body: { data: await services.notifications.channels.test(params.id) } };
  },
});

export const listEventTypes = defineRoute({
  method: 'GET',
  path: '/notifications/event-types',
  scope: 'management',
  operationId: 'listNotificationEventTypes',
  tag: TAG,
  summary: 'List what operators can be notified of',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'All events.',
      schema: z.strictObject({
        data: z.array(
          z.strictObject({
            type: z.string(),
            severity: z.enum(SEVERITIES).describe('The highest that it has.'),
            description: z.string(),
          }),
        ),
      }),
    },
  },
  errors: [],
  handle: () => ({
    status: 200,
    body: { data: EVENT_TYPES.map(({ type, severity, what }) => ({ type, severity, description: what })) },
  }),
});
