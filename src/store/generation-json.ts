import type { Warning } from '../canonical/extra.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../lib/json.ts';

/** One call of an upstream. `status`: what the upstream answered; null when it never did. */
export interface AttemptRecord {
  readonly provider: string;
  readonly model: string;
  readonly status: number | null;
  readonly latencyMs: number;
}

/** The column `attempts`. */
export function writeAttempts(attempts: readonly AttemptRecord[]): string {
  if (attempts.length === 0) return '[]';
  return JSON.stringify(
    attempts.map(({ provider, model, status, latencyMs }) => ({
      provider,
      model,
      status,
      latency_ms: Math.round(latencyMs),
    })),
  );
}

/** What cannot be read is left out: an odd row must not hide its own record. */
export function readAttempts(text: string): readonly AttemptRecord[] {
  return objectsIn(text).map((attempt) => ({
    provider: textOf(attempt['provider']),
    model: textOf(attempt['model']),
    status: typeof attempt['status'] === 'number' ? attempt['status'] : null,
    latencyMs: typeof attempt['latency_ms'] === 'number' ? attempt['latency_ms'] : 0,
  }));
}

/** The column `warnings`. */
export function writeWarnings(warnings: readonly Warning[]): string {
  return warnings.length === 0 ? '[]' : JSON.stringify(warnings);
}

const WARNING_CODES: readonly Warning['code'][] = [
  'field-dropped',
  'field-changed',
  'content-dropped',
  'event-skipped',
];

export function readWarnings(text: string): readonly Warning[] {
  return objectsIn(text).flatMap((warning) => {
    const code = WARNING_CODES.find((known) => known === warning['code']);
    if (code === undefined) return [];
    return [{ code, path: textOf(warning['path']), message: textOf(warning['message']) }];
  });
}

function objectsIn(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
