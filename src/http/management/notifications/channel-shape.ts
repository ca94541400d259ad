import { z } from 'zod';
import { channelResource, channelUrlSchema } from '../../../resources/notification-channels.ts';
import type { ChannelRecord, ChannelWithSecret } from '../../../notifications/channels.ts';

export const channelPathSchema = z.strictObject({ id: z.string() });
export const { schema: channelSchema } = channelResource;

export const urlMember = channelUrlSchema
  .optional()
  .describe('The address that is called, of all kinds but `email`. It is a secret: it is shown masked.');

/** What making or changing a channel answers. */
export const channelAnswerSchema = z.strictObject({
  data: channelSchema,
  secret: z
    .string()
    .optional()
    .describe('Of a webhook, shown this once: what its signatures are made by, `whsec_...` of Standard Webhooks.'),
});

export function serializeChannel(record: ChannelRecord): z.output<typeof channelSchema> {
  return channelResource.serialize(record, { url: record.url });
}

export function serializeAnswer({ record, secret }: ChannelWithSecret): z.output<typeof channelAnswerSchema> {
  return { data: serializeChannel(record), ...(secret !== undefined && { secret }) };
}
