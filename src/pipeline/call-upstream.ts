import type { FormatId } from '../canonical/extra.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { OutboundRequest } from '../lib/http-client.ts';
import type { CallContext, Provider } from '../providers/contract.ts';
import type { EncodedRequest, UpstreamFormat } from '../wire/format.ts';

/** A request in an upstream's words, ready to leave. */
export interface PreparedCall {
  readonly encoded: EncodedRequest;
  readonly context: CallContext;
  readonly outbound: OutboundRequest;
  /** Another path at the same provider, below its base URL. */
  pathOf(path: string): string;
}

/** Encodes, adjusts and authorizes: everything between a candidate and the bytes that leave. Pure. */
export function callUpstream(
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
  const { origin, path } = addressOf(provider, format);
  return {
    encoded,
    context,
    outbound: {
      origin,
      path,
      method: 'POST',
      headers: {
        accept: context.stream ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'user-agent': 'model-gateway',
        ...encoded.headers,
        ...settings.headers,
        ...adapter.authorize(context),
      },
      body: JSON.stringify(encoded.body),
      connectTimeoutMs: settings.timeouts.connectMs,
    },
    pathOf: (other) => new URL(settings.baseUrl + other).pathname,
  };
}

interface Address {
  readonly origin: string;
  readonly path: string;
}

/** Parsing a URL costs more than the rest of a call's preparation, and the addresses of a provider never change. */
const addresses = new WeakMap<Provider, Partial<Record<FormatId, Address>>>();

function addressOf(provider: Provider, format: UpstreamFormat): Address {
  const known = addresses.get(provider)?.[format.id];
  if (known !== undefined) return known;
  const offered = provider.adapter.formats.find((offer) => offer.format === format.id);
  const url = new URL(provider.settings.baseUrl + (offered?.path ?? format.path));
  const address = { origin: url.origin, path: url.pathname + url.search };
  addresses.set(provider, { ...addresses.get(provider), [format.id]: address });
  return address;
}
