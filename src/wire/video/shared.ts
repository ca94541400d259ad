import { invalid } from '../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../canonical/video.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';

interface DataUrl {
  readonly mediaType: string;
  readonly base64: string;
}

/** The parts of a data URL, which a picture is once it was fetched. @throws GatewayError 400 */
export function dataUrlParts(url: string, path: string): DataUrl {
  const head = dataUrlHead(url);
  if (head?.isBase64 !== true) throw invalid(path, 'must be a data URL with base64 here');
  return { mediaType: head.mediaType, base64: url.slice(head.length) };
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

/** @throws GatewayError 400 for a size in pixels, at a provider that knows ratios and resolutions */
export function refuseSize({ size }: Pick<VideoOperation, 'size'>): void {
  if (size !== undefined)
    throw invalid('size', 'is taken by no endpoint of this provider: set resolution and aspect_ratio');
}
