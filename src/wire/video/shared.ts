import { invalid } from '../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../canonical/video.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

/** Never a caller's to set: what it is charged for, what is requested, and addresses that the vendor would call. */
const OWN_MEMBER =
  /^(?:model|prompt|n|stream|instances|sampleCount|number_of_videos|output|.*(?:webhook|callback|upload_url|storageUri).*)$/i;

/** What the caller has for this provider alone, without members that are not its own. @throws GatewayError 400 */
export function optionsFor({ providerOptions }: VideoOperation, provider: string): JsonObject {
  const options = providerOptions?.[provider];
  if (options === undefined) return {};
  const sent: Record<string, Json> = {};
  for (const [name, value] of Object.entries(options)) {
    if (OWN_MEMBER.test(name)) throw invalid(`provider.options.${provider}.${name}`, 'cannot be set here');
    if (isJson(value)) sent[name] = value;
  }
  return sent;
}

function isJson(value: unknown): value is Json {
  return value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value);
}

interface DataUrl {
  readonly mediaType: string;
  readonly base64: string;
}

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;

/** The parts of a data URL, which a picture is once it was fetched. @throws GatewayError 400 */
export function dataUrlParts(url: string, path: string): DataUrl {
  const head = DATA_URL.exec(url);
  if (head?.[1] === undefined) throw invalid(path, 'must be a data URL with base64 here');
  return { mediaType: head[1].toLowerCase(), base64: url.slice(head[0].length) };
}

export function objectAt(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function textAt(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const CLIP_MS_MAX = 3_600_000;

/** Seconds as an upstream states them: what no clip lasts is nothing. */
export function durationMsAt(value: Json | undefined): number | undefined {
  const seconds = typeof value === 'string' ? Number.parseFloat(value) : value;
  if (typeof seconds !== 'number' || !(seconds > 0)) return undefined;
  const ms = Math.round(seconds * 1_000);
  return ms <= CLIP_MS_MAX ? ms : undefined;
}

export function percentAt(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= 100 ? Math.floor(value) : undefined;
}
