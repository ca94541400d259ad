import { z } from 'zod';
import { invalid } from '../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { providerPreferences } from './gateway/provider-preferences.ts';

/** Preferences of requests that are no generations: members for single providers stand in them, too. */
export const providerWithOptions = providerPreferences
  .extend({ options: z.record(z.string(), z.record(z.string(), z.unknown())).nullish() })
  .nullish();

type ProviderWithOptions = z.output<typeof providerWithOptions>;

/** The preferences, and apart from them the members for single providers. */
export function splitOptions(provider: ProviderWithOptions): {
  readonly preferences: Omit<NonNullable<ProviderWithOptions>, 'options'> | undefined;
  readonly options?: Readonly<Record<string, JsonObject>>;
} {
  if (!provider) return { preferences: undefined };
  const { options, ...preferences } = provider;
  if (!options) return { preferences };
  return {
    preferences,
    options: Object.fromEntries(Object.entries(options).map(([slug, one]) => [slug, asJson(one)])),
  };
}

function asJson(members: Readonly<Record<string, unknown>>): JsonObject {
  const sent: Record<string, Json> = {};
  for (const [name, value] of Object.entries(members)) if (isJson(value)) sent[name] = value;
  return sent;
}

/** Never a caller's to set: what it is charged for, what is requested, and addresses that the vendor would call. */
const OWN_MEMBER =
  /^(?:model|prompt|n|stream|input|inputs|query|documents|texts|text|file|audio|image|images|mask|messages|contents|instances|sampleCount|number_of_videos|output|.*(?:webhook|callback|upload_url|storageUri).*)$/i;

/** What the caller has for this provider alone. @throws GatewayError 400 for members that are not the caller's to set */
export function optionsFor(
  { providerOptions }: { readonly providerOptions?: Readonly<Record<string, JsonObject>> },
  provider: string,
): JsonObject {
  const options = providerOptions?.[provider];
  if (options === undefined) return {};
  for (const name of Object.keys(options))
    if (OWN_MEMBER.test(name)) throw invalid(`provider.options.${provider}.${name}`, 'cannot be set here');
  return options;
}

function isJson(value: unknown): value is Json {
  return (
    value === null ||
    Array.isArray(value) ||
    isJsonObject(value) ||
    ['string', 'number', 'boolean'].includes(typeof value)
  );
}
