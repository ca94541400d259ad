import type { z } from 'zod';
import { invalid } from '../../canonical/gateway-error.ts';
import type { NativeWebSearch, UserPlace } from '../../canonical/tools/native-web-search.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { EndpointFacts, PluginContext } from '../contract.ts';
import type { webOptions } from './options.ts';
import { readPostFilter } from './post-filter.ts';

type WebOptions = z.output<typeof webOptions>;

/** Whether every endpoint that may serve searches by itself as the request says: then the endpoint searches. */
export function searchesNatively(
  endpoints: readonly EndpointFacts[],
  request: GenerationRequest,
  options: WebOptions,
): boolean {
  return endpoints.length > 0 && endpoints.every((endpoint) => searchesItself(endpoint, request, options));
}

function searchesItself(endpoint: EndpointFacts, { tools }: GenerationRequest, options: WebOptions): boolean {
  const { include_domains: include = [], exclude_domains: exclude = [] } = options;
  // This family accepts no domain lists, nor does it search beside functions. @spec web-7, web-8
  if (endpoint.searchFormat === 'gemini') return include.length + exclude.length + tools.length === 0;
  return endpoint.searchFormat !== undefined || isVendor(endpoint) || takesSearchOptions(endpoint);
}

/** One that may be spoken to in another format may not be given the tool. */
function isVendor({ nativeTools, formats }: EndpointFacts): boolean {
  return nativeTools === true && formats?.every((format) => format === 'messages') === true;
}

function takesSearchOptions({ supportedParameters }: EndpointFacts): boolean {
  return supportedParameters?.has('web_search_options') === true;
}

/**
 * Has the endpoint search, in the words of its format.
 * @throws GatewayError 400 when no endpoint that may serve searches by itself
 */
export function askNatively(
  request: GenerationRequest,
  options: WebOptions,
  endpoints: readonly EndpointFacts[],
  context: PluginContext,
): GenerationRequest {
  if (!endpoints.some((endpoint) => searchesItself(endpoint, request, options)))
    throw invalid(
      'plugins',
      'the engine "native" needs an endpoint that searches by itself, and no endpoint of the model does so with these settings',
    );
  context.note({
    type: 'plugin',
    name: 'web-search',
    summary: 'Left to the endpoint',
    data: { engine: 'native' },
  });
  const { max_uses: usesMax, include_domains: includeSites, exclude_domains: excludeSites } = options;
  const place = placeOf(options);
  const posts = readPostFilter(options.x_search ?? request.directives.postFilter);
  const nativeWebSearch: NativeWebSearch = {
    ...(includeSites !== undefined && { includeSites }),
    ...(excludeSites !== undefined && { excludeSites }),
    ...(usesMax !== undefined && { usesMax }),
    ...(place !== undefined && { place }),
    ...(posts !== undefined && { posts }),
  };
  return { ...request, settings: { ...request.settings, nativeWebSearch } };
}

/** Where the user is, without what was left empty. */
function placeOf({ user_location: location }: WebOptions): UserPlace | undefined {
  if (location === undefined || location === null) return undefined;
  const { city, region, country, timezone } = location;
  return {
    ...(typeof city === 'string' && { city }),
    ...(typeof region === 'string' && { region }),
    ...(typeof country === 'string' && { country }),
    ...(typeof timezone === 'string' && { timezone }),
  };
}
