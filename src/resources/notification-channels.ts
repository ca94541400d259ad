import { z } from 'zod';
import { isTimeZone } from '../lib/time-zone.ts';
import { flag, integer, json, list, nullable, restriction, text, textOf, time } from './columns.ts';
import { defineResource, member, type NewOf, type PatchOf, type RowOf } from './resource.ts';

const NAME_CHARS_MAX = 100;
const PATTERNS_MAX = 50;
const PATTERN_CHARS_MAX = 60;
const RECIPIENTS_MAX = 20;
const WORKSPACES_MAX = 100;
const PER_HOUR_DEFAULT = 30;
const PER_HOUR_MAX = 1_000;
const ZONE_CHARS_MAX = 64;
const URL_CHARS_MAX = 2_000;

export const CHANNEL_KINDS = ['webhook', 'slack', 'mattermost', 'discord', 'teams', 'email'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** From the least to the most. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

const name = z.string().min(1).max(NAME_CHARS_MAX);
const severity = z.enum(SEVERITIES);
const pattern = z
  .string()
  .max(PATTERN_CHARS_MAX)
  .regex(
    /^(?:\*|critical|[a-z]+\.(?:\*|[a-z_]+))$/,
    'must be an event such as key.limit, a group such as key.*, critical or *',
  );
/** Whose addresses a mail goes to, as they are when it is sent. */
export const RECIPIENT_ROLES = ['org_admins', 'workspace_admins', 'key_owner'] as const;
const recipient = z.union([z.enum(RECIPIENT_ROLES), z.email()]);
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00');
const day = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

export const quietHoursSchema = z.strictObject({
  tz: z.string().max(ZONE_CHARS_MAX).refine(isTimeZone, 'must be a time zone such as Europe/Vienna'),
  from: clock,
  to: clock,
  days: z.array(day).min(1).max(7).optional().describe('On which they begin. Default: on all.'),
});
export type QuietHours = z.output<typeof quietHoursSchema>;

/** What a channel receives where nothing is said: money, and what cannot wait. */
const DEFAULT_EVENTS = ['credits.*', 'key.*', 'workspace.*', 'guardrail.*', 'critical'] as const;

/** Where operators are notified. */
export const channelResource = defineResource('NotificationChannel', {
  id: member(text, { shown: z.string() }),
  name: member(text, { shown: z.string(), create: name, update: name }),
  kind: member(textOf<ChannelKind>(), { shown: z.enum(CHANNEL_KINDS), create: z.enum(CHANNEL_KINDS) }),
  enabled: member(flag, { initial: true, set: z.boolean() }),
  events: member(list(z.string()), {
    initial: DEFAULT_EVENTS,
    shown: z.array(z.string()),
    set: z
      .array(pattern)
      .min(1)
      .max(PATTERNS_MAX)
      .optional()
      .describe(
        'Events, groups of them (`key.*`), `critical` for all that are, or `*`. Default: money and what is critical.',
      ),
  }),
  min_severity: member(textOf<Severity>(), { initial: 'info', set: severity }),
  workspace_ids: member(restriction, {
    initial: null,
    shown: z.array(z.string()).nullable(),
    set: z.array(z.uuid()).min(1).max(WORKSPACES_MAX).nullable().optional().describe('Null: all, and what is of none.'),
  }),
  recipients: member(restriction, {
    initial: null,
    shown: z.array(z.string()).nullable(),
    set: z
      .array(recipient)
      .min(1)
      .max(RECIPIENTS_MAX)
      .nullable()
      .optional()
      .describe(
        'Of the kind `email`; each gets a mail. Beside addresses: `org_admins`, and of what an event is about `workspace_admins` and `key_owner`. They need an organization.',
      ),
  }),
  quiet_hours: member(nullable(json(quietHoursSchema)), {
    initial: null,
    shown: quietHoursSchema.nullable(),
    set: quietHoursSchema
      .nullable()
      .optional()
      .describe('When only critical events are sent at once; the others come as one digest at the end.'),
  }),
  max_per_hour: member(integer, {
    initial: PER_HOUR_DEFAULT,
    shown: z.int(),
    set: z
      .int()
      .min(1)
      .max(PER_HOUR_MAX)
      .optional()
      .describe('What is beyond comes as a digest at the next full hour.'),
  }),
  /** JSON as `lib/secret-box.ts` sealed it: an address is a secret, too. */
  sealed_config: member(text, {}),
  secret_id: member(text, {}),
  url: z.string().nullable().describe('The address, masked behind its host. Null for mail.'),
  state: member(textOf<'ok' | 'failing' | 'disabled'>(), {
    initial: 'ok',
    shown: z
      .enum(['ok', 'failing', 'disabled'])
      .describe(
        '`failing` after three failed attempts in a row; `disabled`: switched off after long failure, until it is enabled.',
      ),
  }),
  failures: member(integer, { initial: 0 }),
  failed_events: member(integer, { initial: 0 }),
  failing_since_ms: member(nullable(time), { initial: null }),
  last_error: member(nullable(text), { initial: null, shown: z.string().nullable() }),
  last_sent_at_ms: member(nullable(time), { initial: null, shown: z.iso.datetime().nullable() }),
  tested_at_ms: member(integer, { initial: 0 }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at_ms: member(time, { shown: z.iso.datetime() }),
});

export const channelUrlSchema = z.url().max(URL_CHARS_MAX);

export type ChannelRow = RowOf<typeof channelResource>;
export type NewChannelValues = NewOf<typeof channelResource>;
export type ChannelPatch = PatchOf<typeof channelResource>;
