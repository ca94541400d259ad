import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { OutboundRequest } from '../lib/http-client.ts';
import type { CallContext, OutgoingCall, Provider } from '../providers/contract.ts';
import type { EncodedRequest, UpstreamFormat } from '../wire/format.ts';

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

/** Encodes and adjusts: everything between a candidate and the bytes that leave, but for the credentials. Pure. */
export function prepareCall(
  provider: Provider,
  format: UpstreamFormat,
  endpoint: Endpoint,
  request: GenerationRequest,
  endUserId: string,
): PreparedCall {
  const { adapter, settings } = provider;
  const context: CallContext = {
    format: format.id,
    settings,
    model: endpoint.upstreamModel,
    stream: request.delivery === 'stream',
  };
  const asEncoded = format.encodeRequest(request, {
    model: endpoint.upstreamModel,
    endUserId,
    dialect: adapter.dialect(context),
    ...(endpoint.outputTokensMax !== undefined && { maxOutputTokens: endpoint.outputTokensMax }),
    ...(endpoint.supportedParameters !== undefined && { supportedParameters: endpoint.supportedParameters }),
  });
  const encoded =
    adapter.adjust === undefined ? asEncoded : { ...asEncoded, body: adapter.adjust(asEncoded.body, context) };
  const offered = adapter.formats.find((offer) => offer.format === format.id)?.path;
  const { origin, basePath } = addressOf(provider);
  return {
    encoded,
    context,
    origin,
    path: basePath + (offered === undefined ? format.path(context) : offered(context)),
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

/**
 * The bytes, with the credentials in their headers.
 * @param change another path below the provider's base URL, or another body
 * @throws CredentialError
 */
export async function authorizeCall(
  provider: Provider,
  prepared: PreparedCall,
  change: { readonly path?: string; readonly body?: EncodedRequest['body'] } = {},
): Promise<OutboundRequest> {
  const { origin, headers, context } = prepared;
  const path = change.path === undefined ? prepared.path : addressOf(provider).basePath + change.path;
  const body = JSON.stringify(change.body ?? prepared.encoded.body);
  const call: OutgoingCall = { ...context, method: 'POST', url: origin + path, headers, body };
  const given = provider.adapter.authorize(call);
  const credentials = given instanceof Promise ? await given : given;
  const { connectMs: connectTimeoutMs } = context.settings.timeouts;
  return { origin, path, method: 'POST', headers: { ...headers, ...credentials }, body, connectTimeoutMs };
}

interface Address {
  readonly origin: string;
  readonly basePath: string;
}

/** Parsing a URL costs more than the rest of a call's preparation, and the address of a provider never changes. */
const addresses = new WeakMap<Provider, Address>();

function addressOf(provider: Provider): Address {
  const known = addresses.get(provider);
  if (known !== undefined) return known;
  const { origin, pathname } = new URL(provider.settings.baseUrl);
  const address = { origin, basePath: pathname === '/' ? '' : pathname };
  addresses.set(provider, address);
  return address;
}
