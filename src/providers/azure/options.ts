import { z } from 'zod';
import { SettingError, type ConnectionSetup } from '../contract.ts';

export const azureOptions = z.strictObject({
  /** The name of the resource, in place of `base_url`. */
  resource: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*$/i, 'must be the name of a resource; an address goes into base_url')
    .optional(),
  /** Calls deployments in the way before the v1 API: `2024-10-21`. */
  api_version: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(?:-preview)?$/, 'must be a version such as 2024-10-21')
    .optional(),
  /** Entra ID instead of a key. What identifies us is in the three below, else in the environment or the machine. */
  entra: z.boolean().optional(),
  tenant_id: z.string().min(1).optional(),
  client_id: z.string().min(1).optional(),
  client_secret: z.string().min(1).optional(),
  /** Another cloud's: `https://login.microsoftonline.us`. */
  authority: z
    .string()
    .regex(/^https:\/\/[^/?#@]+\/?$/, 'must be an address such as https://login.microsoftonline.us')
    .optional(),
});

export interface EntraSettings {
  readonly authority: string;
  readonly tenantId?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where a cluster keeps the token that stands for the secret. */
  readonly tokenFile?: string;
}

export interface AzureSettings {
  /** Ends in `/openai/v1`, or in `/openai` where a version of the API is named. */
  readonly baseUrl: string;
  readonly apiVersion?: string;
  /** Absent: a key. */
  readonly entra?: EntraSettings;
}

const AUTHORITY = 'https://login.microsoftonline.com';

/** @throws SettingError */
export function readAzureSettings(setup: ConnectionSetup): AzureSettings {
  const { resource, api_version: apiVersion, entra, ...identity } = azureOptions.parse(setup.options);
  const hasIdentity = Object.values(identity).some((value) => value !== undefined);
  if (entra === false && hasIdentity)
    throw new SettingError('options.entra', 'is false beside an identity of Entra ID');
  const usesEntra = entra ?? hasIdentity;
  return {
    baseUrl: baseUrlOf(setup, resource, apiVersion !== undefined),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(usesEntra && { entra: entraSettings(identity, setup.env) }),
  };
}

/** `https://NAME.openai.azure.com` in any of the spellings that the vendor's pages show. */
function baseUrlOf({ baseUrl, env }: ConnectionSetup, resource: string | undefined, isClassic: boolean): string {
  if (baseUrl !== undefined && resource !== undefined)
    throw new SettingError('options.resource', 'stands beside base_url; one of them must go');
  const variable = env['AZURE_OPENAI_ENDPOINT']?.trim();
  const isVariable = baseUrl === undefined && resource === undefined;
  const given = baseUrl ?? (resource === undefined ? variable : `https://${resource}.openai.azure.com`);
  if (given === undefined || given === '')
    throw new SettingError('options.resource', 'is required, or base_url, or AZURE_OPENAI_ENDPOINT in the environment');
  const url = URL.parse(given);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new SettingError(isVariable ? 'AZURE_OPENAI_ENDPOINT' : 'base_url', 'must be a URL of https://');
  const path = url.pathname.replace(/\/+$/, '').replace(/(?:\/openai)?(?:\/v1)?$/, '');
  return `${url.origin}${path}/openai${isClassic ? '' : '/v1'}`;
}

function entraSettings(
  given: {
    readonly tenant_id?: string | undefined;
    readonly client_id?: string | undefined;
    readonly client_secret?: string | undefined;
    readonly authority?: string | undefined;
  },
  env: ConnectionSetup['env'],
): EntraSettings {
  const text = (name: string): string | undefined => (env[name]?.trim() === '' ? undefined : env[name]?.trim());
  const tenantId = given.tenant_id ?? text('AZURE_TENANT_ID');
  const clientId = given.client_id ?? text('AZURE_CLIENT_ID');
  const clientSecret = given.client_secret ?? text('AZURE_CLIENT_SECRET');
  const tokenFile = text('AZURE_FEDERATED_TOKEN_FILE');
  if (given.client_secret !== undefined && (tenantId === undefined || clientId === undefined))
    throw new SettingError(
      `options.${tenantId === undefined ? 'tenant_id' : 'client_id'}`,
      'is missing beside its secret',
    );
  return {
    authority: (given.authority ?? text('AZURE_AUTHORITY_HOST') ?? AUTHORITY).replace(/\/$/, ''),
    ...(tenantId !== undefined && { tenantId }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(tokenFile !== undefined && { tokenFile }),
  };
}
