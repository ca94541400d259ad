import { z } from 'zod';
import type { AnyFormatId, Extra } from '../canonical/extra.ts';
import { invalid } from '../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { asExtra } from './extra.ts';
import { providerPreferences } from './gateway/provider-preferences.ts';

/** Preferences of requests that are no generations: members for single providers stand in them, too. */
export const providerWithOptions = providerPreferences
  .extend({ options: z.record(z.string(), z.record(z.string(), z.unknown())).nullish() })
  .nullish();

type ProviderWithOptions = z.output<typeof providerWithOptions>;

/**
 * The preferences, and apart from them the members for single providers.
 * @throws GatewayError 400 for members that are not the caller's to set
 */
export function splitOptions(provider: ProviderWithOptions): {
  readonly preferences: Omit<NonNullable<ProviderWithOptions>, 'options'> | undefined;
  readonly options?: Readonly<Record<string, JsonObject>>;
} {
  if (!provider) return { preferences: undefined };
  const { options, ...preferences } = provider;
  if (!options) return { preferences };
  return {
    preferences,
    options: Object.fromEntries(
      Object.entries(options).map(([slug, one]) => {
        const members = asJson(one);
        refuseDeciding(members, `provider.options.${slug}.`);
        return [slug, members];
      }),
    ),
  };
}

function asJson(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (isJson(value) && name !== '__proto__' ? [[name, value]] : [])),
  );
}

/**
 * Never a caller's to set, whatever the provider: what is requested, what it is charged by, how the answer is read, the
 * name of the end user, and addresses that the vendor would call. The names are without case and underscores.
 */
const DECIDING: ReadonlySet<string> = new Set(
  [
    ['model', 'models', 'modelid', 'modelname', 'preset', 'plugins', 'provider', 'tools', 'servicetier'],
    [
      'input',
      'inputs',
      'prompt',
      'query',
      'queries',
      'documents',
      'text',
      'texts',
      'messages',
      'contents',
      'instances',
    ],
    ['file', 'audio', 'image', 'images', 'imageurl', 'imageurls', 'mask', 'channels', 'multichannel'],
    ['n', 'candidatecount', 'samplecount', 'numimages', 'numoutputs', 'numberofimages', 'numberofvideos', 'batchsize'],
    ['size', 'imagesize', 'width', 'height', 'resolution', 'aspectratio', 'quality', 'frames', 'numframes'],
    ['duration', 'durationseconds', 'seconds'],
    ['stream', 'streamformat', 'responseformat', 'outputformat', 'output', 'outputmimetype', 'responsemimetype'],
    ['modalities', 'responsemodalities', 'voice', 'samplerate', 'returndocuments', 'rawscores', 'returntext'],
    ['encodingformat', 'embeddingtype', 'embeddingtypes', 'outputdtype', 'endianness'],
    ['dimensions', 'outputdimension', 'outputdimensionality', 'embeddingdimension'],
    ['user', 'safetyidentifier'],
  ].flat(),
);
const CALLED_BACK = /webhook|callback|uploadurl|storageuri|gcsuri/;

/** Vendors read `imageSize` as `image_size`, and forms `n[]` as `n`. */
function plain(name: string): string {
  return name.replace(/\[.*$/s, '').replaceAll(/[_-]/g, '').toLowerCase();
}

/** @throws GatewayError 400 at the first that is not the caller's to set, at any depth */
function refuseDeciding(members: JsonObject, path: string): void {
  for (const [name, value] of Object.entries(members)) {
    const word = plain(name);
    if (DECIDING.has(word) || CALLED_BACK.test(word))
      throw invalid(
        path + name,
        'cannot be set here: it decides what is requested, what that costs or how the response is read',
      );
    if (isJsonObject(value)) refuseDeciding(value, `${path}${name}.`);
  }
}

/** Members that no name is known for, which providers of the format get. @throws GatewayError 400 for what is not the caller's to set */
export function callersExtra(format: AnyFormatId, rest: JsonObject | undefined): { readonly extra?: Extra } {
  if (rest !== undefined) refuseDeciding(rest, '');
  return asExtra(format, rest);
}

/** What the caller has for one provider alone, and where that stands in the request. */
export interface ProviderOptions {
  readonly members: JsonObject;
  readonly path: string;
}

const NO_OPTIONS: ProviderOptions = { members: {}, path: '' };

export function optionsFor(
  { providerOptions }: { readonly providerOptions?: Readonly<Record<string, JsonObject>> },
  provider: string,
): ProviderOptions {
  const members = providerOptions?.[provider];
  return members === undefined ? NO_OPTIONS : { members, path: `provider.options.${provider}.` };
}

/** A body with the caller's members beside its own, and inside its own objects. @throws GatewayError 400 for one that it has */
export function withOptions(body: JsonObject, { members, path }: ProviderOptions): JsonObject {
  const names = Object.keys(members);
  if (names.length === 0) return body;
  const written = new Map(Object.keys(body).map((name) => [plain(name), name]));
  const merged = new Map(Object.entries(body));
  for (const name of names) {
    const own = written.get(plain(name)) ?? name;
    const [before, value] = [merged.get(own), members[name]];
    if (before === undefined) merged.set(name, value);
    else if (isJsonObject(before) && isJsonObject(value))
      merged.set(own, withOptions(before, { members: value, path: `${path}${name}.` }));
    else throw invalid(path + name, 'is set by the gateway already');
  }
  return Object.fromEntries(merged);
}

/** For what is no JSON. @param written the names that it has @throws GatewayError 400 for one of them */
export function membersBeside(written: Iterable<string>, options: ProviderOptions): JsonObject {
  withOptions(Object.fromEntries(Array.from(written, (name) => [name, true])), options);
  return options.members;
}

function isJson(value: unknown): value is Json {
  return (
    value === null ||
    Array.isArray(value) ||
    isJsonObject(value) ||
    ['string', 'number', 'boolean'].includes(typeof value)
  );
}
