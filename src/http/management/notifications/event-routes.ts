import { z } from 'zod';
import type { EventWithDeliveries } from '../../../notifications/notifications.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { SEVERITIES } from '../../../resources/notification-channels.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const TAG = 'Notifications';
const EVENTS = 50;
const EVENTS_MAX = 100;
const CURSOR_CHARS_MAX = 100;

const deliveryState = z.enum(['queued', 'held', 'sent', 'failed', 'merged', 'dropped']);
const when = z.iso.datetime();

const eventSchema = z
  .strictObject({
    id: z.string().describe('`webhook-id` of every delivery.'),
    type: z.string(),
    severity: z.enum(SEVERITIES),
    subject: z.string(),
    workspace_id: z.string().nullable(),
    title: z.string(),
    text: z.string(),
    values: z.record(z.string(), z.unknown()),
    created_at: when,
    deliveries: z.array(
      z.strictObject({
        channel_id: z.string(),
        state: deliveryState.describe(
          '`held`: until quiet hours end or the hour is over; `merged`: another message stands for it; `dropped`: its channel is off or gone.',
        ),
        attempts: z.int(),
        status: z.int().nullable(),
        error: z.string().nullable(),
        sent_at: when.nullable(),
      }),
    ),
  })
  .meta({ id: 'NotificationEvent' });

function serializeEvent({ event, deliveries }: EventWithDeliveries): z.output<typeof eventSchema> {
  const { id, type, severity, subject, workspaceId, title, text, facts, createdAtMs } = event;
  return {
    id,
    type,
    severity,
    subject,
    workspace_id: workspaceId,
    title,
    text,
    values: { ...facts },
    created_at: serializeTime(createdAtMs),
    deliveries: deliveries.map(({ channelId, state, attempts, status, error, sentAtMs }) => ({
      channel_id: channelId,
      state,
      attempts,
      status,
      error,
      sent_at: state !== 'sent' || sentAtMs === null ? null : serializeTime(sentAtMs),
    })),
  };
}

export const listNotificationEvents = defineRoute({
  method: 'GET',
  path: '/notifications/events',
  scope: 'management',
  operationId: 'listNotificationEvents',
  tag: TAG,
  summary: 'List what operators were notified of in the last 30 days, newest first, with its deliveries',
  params: NOTHING,
  query: z.strictObject({
    state: deliveryState.optional().describe('Only events with a delivery in this state.'),
    limit: z.coerce.number().int().min(1).max(EVENTS_MAX).optional().describe('Default 50.'),
    cursor: z.string().max(CURSOR_CHARS_MAX).optional().describe('`next_cursor` of the page before.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'A page of events.',
      schema: z.strictObject({ data: z.array(eventSchema), next_cursor: z.string().nullable() }),
    },
  },
  errors: [400],
  async handle({ query: { state, limit = EVENTS, cursor }, services }) {
    const { events, nextCursor } = await services.notifications.events({ limit, cursor, state });
    return { status: 200, body: { data: events.map(serializeEvent), next_cursor: nextCursor } };
  },
});

export const resendNotificationEvent = defineRoute({
  method: 'POST',
  path: '/notifications/events/{id}/resend',
  scope: 'management',
  operationId: 'resendNotificationEvent',
  tag: TAG,
  summary: 'Deliver an event once more to the channels that got it or did not take it, under the same id',
  params: z.strictObject({ id: z.string() }),
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The event.', schema: z.strictObject({ data: eventSchema }) } },
  errors: [404, 409],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeEvent(await services.notifications.resend(params.id)) } };
  },
});
