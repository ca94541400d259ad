import { offerAllowedTools } from '../../wire/allowed-tools.ts';
import { compactAt } from '../../wire/compaction-request.ts';
import type { Warning } from '../../canonical/extra.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { ByteSource } from '../../lib/files/spool.ts';
import type { OutboundRequest } from '../../lib/net/http-client.ts';
import { CredentialError, type CallContext, type OutgoingCall, type Provider } from '../../providers/contract.ts';
import type { Dialect, EncodedRequest, UpstreamFormat } from '../../wire/format.ts';
import { refuseForeignContent } from '../../wire/unsupported-blocks.ts';
import { setServiceTier } from './request/request-tier.ts';
import { dialectOf } from '../replay/reasoning-history.ts';
import { raiseMaxTokens } from './request/raise-max-tokens.ts';
import { refuseStoredFiles } from './request/refuse-stored-files.ts';

/** A request in an upstream's words. Nothing of it names us to the provider yet. */
export interface PreparedCall {
  readonly encoded: EncodedRequest;
  readonly context: CallContext;
  /** `https://host:port`. */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * `prepareCall` for an attempt: a request that the format of this endpoint cannot say may be sayable in the next one's, so
 * that is a failure of this attempt alone.
 */
export function tryPrepareCall(...call: Parameters<typeof prepareCall>): PreparedCall | UpstreamFailure {
  try {
    return prepareCall(...call);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return unsayable(error);
  }
}

/** Why one endpoint cannot be sent a request that another one may take. */
export function unsayable({ type: errorType, status, message, issues }: GatewayError): UpstreamFailure {
  return { kind: 'unsayable', errorType, status, message, mayTry: 'next-endpoint', ...(issues && { issues }) };
}

/**
 * Encodes and adjusts: everything between a candidate and the bytes that leave, but for the credentials. Pure.
 * @throws GatewayError when the format cannot say the request
 */
export function prepareCall(
  provider: Provider,
  format: UpstreamFormat,
  endpoint: Endpoint,
  request: GenerationRequest,
  endUserId: string,
  dialect: Dialect = dialectOf(provider, format.id, endpoint),
): PreparedCall {
  const { adapter, settings } = provider;
  const context: CallContext = {
    format: format.id,
    settings,
    model: endpoint.upstreamModel,
    stream: request.delivery === 'stream',
  };
  refuseForeignContent(request, format.id);
  refuseStoredFiles(request, provider, format.id);
  const adapted = setServiceTier(compactAt(request, format.id, dialect), endpoint);
  const raised = raiseMaxTokens(adapted, endpoint.outputTokensMin ?? dialect.outputTokensMin);
  const asEncoded = format.encodeRequest(offerAllowedTools(raised.request, format.id), {
    model: endpoint.upstreamModel,
    endUserId,
    dialect,
    betaRules: provider.betaRules?.(),
    maxOutputTokens: endpoint.outputTokensMax,
    supportedParameters: endpoint.supportedParameters,
  });
  const body = adapter.adjust === undefined ? asEncoded.body : adapter.adjust(asEncoded.body, context);
  const warnings = nameLimit(request, [...raised.warnings, ...asEncoded.warnings]);
  const encoded: EncodedRequest = { ...asEncoded, body, warnings };
  const offer = provider.formats.find((offered) => offered.format === format.id);
  const { origin, basePath } = addressOf(provider);
  return {
    encoded,
    context,
    origin,
    path: (offer?.basePath ?? basePath) + (offer?.path === undefined ? format.path(context) : offer.path(context)),
    headers: {
      accept: context.stream ? format.streamType : 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      ...encoded.headers,
      ...settings.headers,
    },
  };
}

/** The limit of the answer under the name that the caller gave it. */
function nameLimit({ settings }: GenerationRequest, warnings: readonly Warning[]): readonly Warning[] {
  const { maxTokensMember: path } = settings;
  if (path === undefined) return warnings;
  return warnings.map((warning) => (warning.path === 'max_tokens' ? { ...warning, path } : warning));
}

/**
 * The bytes, with the credentials in their headers: at once where those are known, else a promise.
 * @param change another path below the provider's base URL, or another body, or bytes that are read while they are sent, or
 *   another method, which has no body unless it is given one, and the key whose request it serves
 * @throws CredentialError at once or as a rejection
 */
export function authorizeCall(
  provider: Provider,
  prepared: Pick<PreparedCall, 'origin' | 'path' | 'headers' | 'context'> & {
    readonly encoded: Pick<EncodedRequest, 'body'>;
  },
  change: {
    readonly path?: string;
    readonly body?: EncodedRequest['body'];
    readonly source?: ByteSource;
    readonly method?: OutgoingCall['method'];
    readonly keyHash?: string;
  } = {},
): OutboundRequest | Promise<OutboundRequest> {
  const { origin, headers, context } = prepared;
  const path = change.path === undefined ? prepared.path : addressOf(provider).basePath + change.path;
  const { source, method = 'POST', keyHash } = change;
  const isEmpty = method !== 'POST' && change.body === undefined;
  const text = isEmpty ? '' : JSON.stringify(change.body ?? prepared.encoded.body);
  const body = source === undefined ? text : undefined;
  const sent = source === undefined ? (isEmpty ? {} : { body: text }) : { source };
  const call: OutgoingCall = { ...context, method, url: origin + path, headers, body, keyHash };
  const { connectMs: connectTimeoutMs } = context.settings.timeouts;
  const withCredentials = (credentials: Readonly<Record<string, string>>): OutboundRequest => {
    return { origin, path, method, headers: { ...headers, ...credentials }, ...sent, connectTimeoutMs };
  };
  const given = provider.authorize(call);
  return given instanceof Promise ? withinLimit(given).then(withCredentials) : withCredentials(given);
}

/** A token that is not there by now comes too late: another provider may answer meanwhile. */
const CREDENTIAL_WAIT_MS = 10_000;

/** Settles with the promise; after the limit it fails, whatever the promise does later. */
function withinLimit<Value>(promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new CredentialError(`no credential was to be had in ${CREDENTIAL_WAIT_MS} ms`));
    const timer = setTimeout(late, CREDENTIAL_WAIT_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

interface Address {
  readonly origin: string;
  readonly basePath: string;
}

/** Parsing a URL costs more than the rest of a call's preparation, and the address of a provider never changes. */
const addresses = new WeakMap<Provider, Address>();

export function addressOf(provider: Provider): Address {
  const known = addresses.get(provider);
  if (known !== undefined) return known;
  const { origin, pathname } = new URL(provider.settings.baseUrl);
  const address = { origin, basePath: pathname === '/' ? '' : pathname };
  addresses.set(provider, address);
  return address;
}
