import type { JsonObject } from '../../lib/json.ts';
import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../lib/net/path-segment.ts';
import { itemsOf, textOf } from '../json-fields.ts';
import { REFUSAL_WORDS, type VendorCall } from './job.ts';

/**
 * Where a prediction begins: a model of an owner, or a version, which stands in the body.
 * @source replicate.com/docs "HTTP API", `predictions.create` and `models.predictions.create`, read 2026-11
 */
export function predictionOf(model: string, input: JsonObject): { readonly path: string; readonly body: JsonObject } {
  const [name = '', version] = model.split(':');
  const own = version ?? (/^[0-9a-f]{64}$/.test(name) ? name : undefined);
  if (own !== undefined) return { path: '/predictions', body: { version: own, input } };
  const path = `/models/${name.split('/').map(encodePathSegment).join('/')}/predictions`;
  return { path, body: { input } };
}

const ID_CHARS_MAX = 200;

/** @throws NotThatJson */
export function predictionId(answer: JsonObject): string {
  const id = textOf(answer['id']);
  if (id === undefined || id === '' || id.length > ID_CHARS_MAX) throw new NotThatJson();
  return id;
}

export function getPrediction(id: string): VendorCall & { readonly at: { readonly path: string } } {
  return { method: 'GET', at: { path: `/predictions/${encodePathSegment(id)}` } };
}

export function cancelPrediction(id: string): VendorCall & { readonly at: { readonly path: string } } {
  return { method: 'POST', at: { path: `/predictions/${encodePathSegment(id)}/cancel` }, body: {} };
}

/** How a prediction ended; `undefined`: it has not. @source replicate.com/docs "Prediction lifecycle", read 2026-11 */
export function endOfPrediction(
  answer: JsonObject,
):
  | { readonly urls: readonly string[] }
  | { readonly failed: string; readonly isRefusal: boolean; readonly isCancelled: boolean }
  | undefined {
  const { status, output, error } = answer;
  if (status === 'succeeded') {
    const urls = typeof output === 'string' ? [output] : itemsOf(output).filter((one) => typeof one === 'string');
    return { urls };
  }
  if (status !== 'failed' && status !== 'canceled' && status !== 'aborted') return undefined;
  const failed = textOf(error) ?? `the prediction is ${status}`;
  return {
    failed,
    isRefusal: REFUSAL_WORDS.test(failed) || /\bE005\b/.test(failed),
    isCancelled: status === 'canceled',
  };
}
