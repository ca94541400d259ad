import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import { parseJsonObject, type JsonObject } from '../../lib/json.ts';
import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../lib/net/path-segment.ts';
import { objectsOf, textOf } from '../json-fields.ts';
import { decodeError, parseError } from '../upstream-error.ts';
import { pathOfAddress, REFUSAL_WORDS, type VendorStep, type VendorWait } from './job.ts';

/** `fal-ai/flux/dev`: its segments are those of the path. */
export function falPath(model: string): string {
  return `/${model.split('/').map(encodePathSegment).join('/')}`;
}

/**
 * The queue of fal: submitted, looked at, and fetched, at the addresses that its answers name.
 * @source fal.ai/docs "Inference API", "Get status", "Get result", "Cancel a request", read 2026-11
 */
export function followFal(answer: JsonObject | undefined, waiting: VendorWait | undefined): VendorStep {
  if (answer === undefined) throw new NotThatJson();
  const status = textOf(answer['status']);
  if (status === 'COMPLETED') {
    if (failureOfFal(answer) !== undefined) return { next: 'read' };
    const path = pathOfAddress(answer['response_url']);
    if (path === undefined) throw new NotThatJson();
    return { next: 'call', call: { method: 'GET', at: { path } } };
  }
  // The result has no status of a job.
  if (waiting !== undefined) return status === undefined ? { next: 'read' } : waiting;
  const [path, cancel] = [pathOfAddress(answer['status_url']), pathOfAddress(answer['cancel_url'])];
  if (path === undefined) throw new NotThatJson();
  return {
    next: 'wait',
    call: { method: 'GET', at: { path } },
    ...(cancel !== undefined && { cancel: { method: 'PUT', at: { path: cancel } } }),
  };
}

/** How a job failed, as its status says it; `undefined`: it did not. */
export function failureOfFal(
  answer: JsonObject,
): (UpstreamErrorBody & { readonly message: string; readonly isRefusal: boolean }) | undefined {
  const { error, error_type: type } = answer;
  if (typeof error !== 'string' || error === '') return undefined;
  const code = textOf(type);
  const isRefusal = REFUSAL_WORDS.test(`${code ?? ''} ${error}`);
  return { message: error, ...(code !== undefined && { code }), isRefusal };
}

/** `{detail: [{loc, msg, type}]}`, whose type says more than its status. */
export function decodeFalError(text: string): UpstreamErrorBody {
  const [first] = objectsOf(parseJsonObject(text)?.['detail']);
  if (first === undefined) return decodeError(text);
  const code = textOf(first['type']);
  return { ...parseError({ detail: [first] }), ...(code !== undefined && { code }) };
}
