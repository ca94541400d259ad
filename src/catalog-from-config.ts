import { createCatalog, type PassThrough } from './catalog/catalog.ts';
import { FREE, priceTableOf } from './catalog/price.ts';
import type { Catalog, Endpoint, Model } from './catalog/model.ts';
import type { Config, ModelConfig } from './config/config.ts';
import type { Provider } from './providers/contract.ts';
import { formatsOf } from './providers/build-provider.ts';
import { missingKey } from './providers/index.ts';

/** The catalog that configuration, built-in models and known providers add up to; the configuration comes first. */
export function catalogFromConfig(
  config: Pick<Config, 'models' | 'passThrough' | 'providers'>,
  providers: ReadonlyMap<string, Provider>,
  builtIn: readonly Model[],
): Catalog {
  const policies = new Map(config.providers.map(({ slug, dataPolicy }) => [slug, dataPolicy]));
  const place = (slug: string, provider: string, upstreamModel: string): Omit<Endpoint, 'price'> => {
    const known = providers.get(provider);
    const parameters = known && parametersOf(known, upstreamModel);
    return {
      model: slug,
      provider,
      providerName: known?.settings.name ?? provider,
      upstreamModel,
      dataPolicy: policies.get(provider) ?? {},
      ...((known === undefined || missingKey(known).length > 0) && { lacksCredentials: true }),
      formats: known === undefined ? ['chat'] : formatsOf(known, upstreamModel),
      vendorTools: known !== undefined && runsVendorTools(known, upstreamModel),
      cancellable: known?.adapter.cancellable ?? false,
      ...(parameters !== undefined && { supportedParameters: parameters }),
    };
  };
  const configured = config.models.map((model) => modelFrom(model, place));
  const named = new Set(configured.map(({ slug }) => slug));
  const passThrough: PassThrough[] = config.passThrough.map(({ prefix, provider }) => ({
    prefix,
    endpoint: (name, slug) => ({ ...place(slug, provider, name), price: FREE }),
  }));
  const free = new Set(builtIn.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)));
  // `openai/gpt-x` reaches the provider of that slug under the upstream's own name; nobody knows its price here.
  for (const slug of providers.keys()) {
    passThrough.push({
      prefix: `${slug}/`,
      endpoint: (name, full) => ({ ...place(full, slug, name), price: free.has(slug) ? FREE : undefined }),
    });
  }
  return createCatalog([...configured, ...builtIn.filter(({ slug }) => !named.has(slug))], passThrough);
}

function runsVendorTools(provider: Provider, model: string): boolean {
  return formatsOf(provider, model).some(
    (format) => format === 'messages' && provider.adapter.dialect({ format, model }).vendor === true,
  );
}

/** What the vendor itself takes: a list of the operator's own says more. */
function parametersOf(provider: Provider, model: string): ReadonlySet<string> | undefined {
  const [format] = formatsOf(provider, model);
  return format && provider.adapter.dialect({ format, model }).parameters;
}

type Place = (slug: string, provider: string, upstreamModel: string) => Omit<Endpoint, 'price'>;

function modelFrom(model: ModelConfig, place: Place): Model {
  const { contextLength, inputModalities, outputModalities } = model;
  return {
    slug: model.slug,
    name: model.name,
    ...(contextLength !== undefined && { contextTokensMax: contextLength }),
    endpoints: model.endpoints.map((endpoint) => {
      const context = endpoint.contextLength ?? contextLength;
      const output = endpoint.maxCompletionTokens ?? model.maxCompletionTokens;
      return {
        ...place(model.slug, endpoint.provider, endpoint.model),
        price: endpoint.price && priceTableOf(endpoint.price),
        ...(context !== undefined && { contextTokensMax: context }),
        ...(output !== undefined && { outputTokensMax: output }),
        ...(endpoint.minCompletionTokens !== undefined && { outputTokensMin: endpoint.minCompletionTokens }),
        ...(inputModalities !== undefined && { inputModalities }),
        ...(outputModalities !== undefined && { outputModalities }),
        ...(endpoint.quantization !== undefined && { quantization: endpoint.quantization }),
        ...(endpoint.supportedParameters !== undefined && {
          supportedParameters: new Set(endpoint.supportedParameters),
        }),
      };
    }),
  };
}
