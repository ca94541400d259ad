import { z } from 'zod';
import { SettingError, type ConnectionSetup } from '../contract.ts';

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d+$/;
const NOT_A_REGION = 'must be a region such as us-east-1';
const REGION_VARIABLES = ['AWS_REGION', 'AWS_DEFAULT_REGION'] as const;

export const bedrockOptions = z.strictObject({
  region: z.string().regex(REGION, NOT_A_REGION).optional(),
  /** A profile of the shared configuration files, with whatever it says: keys, a role to assume, single sign-on. */
  profile: z.string().min(1).optional(),
  access_key_id: z.string().min(1).optional(),
  secret_access_key: z.string().min(1).optional(),
  session_token: z.string().min(1).optional(),
  /** Callers may name files of storage, which are opened with the rights of this identity. */
  storage_uris: z.boolean().optional(),
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
export function readBedrockSettings({ options, env, apiKey }: ConnectionSetup): BedrockSettings {
  const { region, profile, ...given } = bedrockOptions.parse(options);
  const found = region ?? regionOf(env);
  if (found === undefined) throw new SettingError('options.region', 'is required, or AWS_REGION in the environment');
  const keys = staticKeys(given);
  const [signing] = ['access_key_id', 'profile'].filter((name) => options[name] !== undefined);
  if (apiKey !== undefined && signing !== undefined)
    throw new SettingError(
      `options.${signing}`,
      'stands beside api_key or AWS_BEARER_TOKEN_BEDROCK; one of them must go',
    );
  if (keys !== undefined && profile !== undefined)
    throw new SettingError('options.profile', 'stands beside access_key_id; one of them must go');
  return { region: found, ...(profile !== undefined && { profile }), ...(keys !== undefined && { keys }) };
}

/** It becomes part of a host's name. */
function regionOf(env: ConnectionSetup['env']): string | undefined {
  const variable = REGION_VARIABLES.find((name) => nonEmpty(env[name]) !== undefined);
  const region = variable && nonEmpty(env[variable]);
  if (variable !== undefined && region !== undefined && !REGION.test(region))
    throw new SettingError(variable, NOT_A_REGION);
  return region;
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
