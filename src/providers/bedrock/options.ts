import { z } from 'zod';
import { SettingError, type ConnectionSetup } from '../contract.ts';

const NOT_A_REGION = 'must be a region such as us-east-1';

export const bedrockOptions = z.strictObject({
  region: z
    .string()
    .regex(/^[a-z]{2}(?:-[a-z]+)+-\d+$/, NOT_A_REGION)
    .optional(),
  /** A profile of the shared configuration files, with whatever it says: keys, a role to assume, single sign-on. */
  profile: z.string().min(1).optional(),
  access_key_id: z.string().min(1).optional(),
  secret_access_key: z.string().min(1).optional(),
  session_token: z.string().min(1).optional(),
});

export interface StaticKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface BedrockSettings {
  readonly region: string;
  readonly profile?: string;
  readonly keys?: StaticKeys;
}

/** @throws SettingError */
export function readBedrockSettings({ options, env }: ConnectionSetup): BedrockSettings {
  const { region, profile, ...given } = bedrockOptions.parse(options);
  const found = region ?? nonEmpty(env['AWS_REGION']) ?? nonEmpty(env['AWS_DEFAULT_REGION']);
  if (found === undefined) throw new SettingError('options.region', 'is required, or AWS_REGION in the environment');
  const keys = staticKeys(given);
  if (keys !== undefined && profile !== undefined)
    throw new SettingError('options.profile', 'stands beside access_key_id; one of them must go');
  return { region: found, ...(profile !== undefined && { profile }), ...(keys !== undefined && { keys }) };
}

function staticKeys(given: {
  readonly access_key_id?: string | undefined;
  readonly secret_access_key?: string | undefined;
  readonly session_token?: string | undefined;
}): StaticKeys | undefined {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = given;
  if (accessKeyId === undefined && secretAccessKey === undefined && sessionToken === undefined) return undefined;
  if (accessKeyId === undefined) throw new SettingError('options.access_key_id', 'is missing beside its secret');
  if (secretAccessKey === undefined) throw new SettingError('options.secret_access_key', 'is missing beside its id');
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}
