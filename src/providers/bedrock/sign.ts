import type { SignatureV4 } from '@smithy/signature-v4';
import { loadAwsSigner } from '../../lib/aws-signer.ts';
import { credentialError, type Authorize, type OutgoingCall } from '../contract.ts';
import type { BedrockSettings, StaticKeys } from './options.ts';

/** The service's name inside signatures: its run-time host has another. */
const SERVICE = 'bedrock';

/**
 * Signs each call with version 4 of Amazon's signatures. Keys are those of the settings, else what the vendor's own chain
 * finds: environment, profile, single sign-on, web identity, container, machine; it renews them before they end.
 */
export function createSigningAuthorize(settings: BedrockSettings): Authorize {
  let signer: Promise<SignatureV4> | undefined;
  return async (call) => {
    signer ??= load(settings);
    try {
      const { headers } = await (await signer).sign(signable(call));
      return added(headers);
    } catch (error) {
      throw credentialError('the AWS credentials do not work', error, remedyOf(settings));
    }
  };
}

function remedyOf({ profile, keys }: BedrockSettings): string | undefined {
  if (keys !== undefined) return undefined;
  if (profile !== undefined) return 'check options.profile and the files that it stands in';
  return 'set options.access_key_id and options.secret_access_key, options.profile, or AWS_BEARER_TOKEN_BEDROCK';
}

async function load({ region, profile, keys }: BedrockSettings): Promise<SignatureV4> {
  return loadAwsSigner({ service: SERVICE, region, credentials: keys ?? (await chain(region, profile)) });
}

/**
 * Reads the process's own environment and the files that it names, where the vendor's tools look. A named profile is
 * used alone: a machine's role in its place would bill another account.
 */
async function chain(region: string, profile: string | undefined): Promise<CredentialSource> {
  const clientConfig = { region };
  if (profile === undefined) {
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    return defaultProvider({ clientConfig });
  }
  const { fromIni } = await import('@aws-sdk/credential-provider-ini');
  return kept(fromIni({ profile, clientConfig }));
}

type CredentialSource = () => Promise<StaticKeys & { readonly expiration?: Date }>;

const RENEWED_BEFORE_MS = 300_000;

/** Called again only shortly before its credentials expire; those that never expire are read once. */
function kept(source: CredentialSource): CredentialSource {
  let held: ReturnType<CredentialSource> | undefined;
  return async () => {
    const known = await held?.catch(() => undefined);
    const endsAtMs = known?.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
    if (known === undefined || endsAtMs - Date.now() < RENEWED_BEFORE_MS) held = source();
    return held ?? source();
  };
}

/** Only what a proxy on the way has no reason to change. */
function signable({ method, url, headers, body }: OutgoingCall) {
  if (body === undefined) throw new Error('a form cannot be signed');
  const { protocol, hostname, port, host, pathname, searchParams } = new URL(url);
  const contentType = headers['content-type'];
  return {
    method,
    protocol,
    hostname,
    ...(port !== '' && { port: Number(port) }),
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host, ...(contentType !== undefined && { 'content-type': contentType }) },
    body,
  };
}

const ADDED: ReadonlySet<string> = new Set([
  'authorization',
  'x-amz-date',
  'x-amz-content-sha256',
  'x-amz-security-token',
]);

function added(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      ADDED.has(name.toLowerCase()) ? [[name.toLowerCase(), value]] : [],
    ),
  );
}
