import { z } from 'zod';
import { flag, money, nullable, text, textOf, time } from './columns.ts';
import { defaultPlugins, defaultPluginsSchema } from './default-plugins.ts';
import { defaultPreferences, defaultPreferencesSchema } from './default-preferences.ts';
import { defineResource, member, type PatchOf, type RowOf } from './resource.ts';
import { LIMIT_USD_MAX, limitResetSchema, spendShape } from './shapes.ts';

const NAME_CHARS_MAX = 256;
const USER_ID_CHARS_MAX = 256;

const name = z.string().min(1).max(NAME_CHARS_MAX);
const limitUsd = z
  .number()
  .min(0)
  .max(LIMIT_USD_MAX)
  .nullable()
  .describe('The most that the key may spend, USD. Null: no limit.');

/** API keys. A deleted one stays as a row, so that its generations keep a name. @spec key-5 */
export const keyResource = defineResource('ApiKey', {
  /** SHA-256 of the full key, 64 lower-case hex digits: its public name. The key itself is stored nowhere. */
  hash: member(text, { shown: z.string() }),
  label: member(text, { shown: z.string().describe('A masked excerpt of the key.') }),
  name: member(text, { shown: z.string(), create: name, update: name }),
  kind: member(textOf<'normal' | 'management'>(), { initial: 'normal' }),
  disabled: member(flag, { initial: false, shown: z.boolean(), update: z.boolean() }),
  disabled_reason: member(nullable(textOf<'scim' | 'admin'>()), {
    initial: null,
    shown: z
      .enum(['scim', 'admin'])
      .nullable()
      .describe('What disabled it with its user: an identity provider, or an admin. Null: nothing did.'),
  }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  /** Null until the first change. */
  updated_at_ms: member(nullable(time), { initial: null, shown: z.iso.datetime().nullable() }),
  expires_at_ms: member(nullable(time), {
    initial: null,
    shown: z.iso.datetime().nullable(),
    create: z.iso.datetime({ offset: true }).nullable().optional().describe('In UTC. Null: never.'),
  }),
  creator_user_id: member(nullable(text), {
    initial: null,
    shown: z.string().nullable(),
    create: z.string().min(1).max(USER_ID_CHARS_MAX).nullable().optional(),
  }),
  external_user: z.null().describe('Keys are not made for users of partners here.'),
  /** The key by which it was made. Null: the command line, or the first start. */
  issuer_key_hash: member(nullable(text), {
    initial: null,
    shown: z
      .string()
      .nullable()
      .describe('The key that made this one, by `POST /keys` or by a code. Null: the command line or the first start.'),
  }),
  /** For when the issuer itself is gone. */
  issuer_label: member(nullable(text), {
    initial: null,
    shown: z.string().nullable().describe('A masked excerpt of that key.'),
  }),
  root_key_hash: member(nullable(text), {
    initial: null,
    shown: z
      .string()
      .nullable()
      .describe('The normal key whose limits count this key too, since it issued it, directly or not. Null: none.'),
  }),
  workspace_id: member(text, {
    shown: z.string(),
    create: z.uuid().optional().describe('Default: the default workspace.'),
  }),
  limit_nano_usd: member(nullable(money), { as: 'limit', initial: null, shown: z.number().nullable(), set: limitUsd }),
  limit_remaining: z.number().nullable(),
  /** Null: the limit is for all time. */
  limit_reset: member(nullable(textOf<'daily' | 'weekly' | 'monthly'>()), { initial: null, set: limitResetSchema }),
  include_byok_in_limit: member(flag, { initial: false, set: z.boolean() }),
  default_provider_preferences: member(defaultPreferences, { initial: null, set: defaultPreferencesSchema }),
  default_plugins: member(defaultPlugins, { initial: null, set: defaultPluginsSchema }),
  ...spendShape,
});

export type KeyRow = RowOf<typeof keyResource>;
export type KeyPatch = PatchOf<typeof keyResource>;
export type KeyKind = KeyRow['kind'];
export type LimitReset = NonNullable<KeyRow['limitReset']>;
