import type { Warning } from '../../canonical/extra.ts';
import type { Codec } from '../../resources/columns.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';

/** The column `attempts`. */
export const attemptsColumn: Codec<string, readonly AttemptRecord[]> = {
  encode: encodeAttempts,
  decode: decodeAttempts,
};
/** The column `warnings`. */
export const warningsColumn: Codec<string, readonly Warning[]> = { encode: encodeWarnings, decode: decodeWarnings };

/** One call of an upstream. `status`: the upstream's answer; null when there was none. */
export interface AttemptRecord {
  readonly provider: string;
  /** The display name; absent where an older version stored the record. */
  readonly providerName?: string;
  readonly model: string;
  readonly status: number | null;
  readonly latencyMs: number;
  /** When it began, since the request came; absent where an older version stored the record. */
  readonly startMs?: number;
  /** The redacted label of the caller's own credential; absent: the gateway's was used. */
  readonly credential?: string;
  /** The provider has received the span of the attempt. */
  readonly isTraced?: true;
  /** Its part of a response that several providers gave together; absent: all of the response, or nothing. */
  readonly part?: AttemptPart;
}

export interface AttemptPart {
  readonly tokensPrompt: number;
  readonly tokensCompletion: number;
  /** Null: the price is unknown, which is not zero. */
  readonly costNanoUsd: number | null;
  /** When it ended, since the request came; absent: with the response. */
  readonly endMs?: number;
}

function encodeAttempts(attempts: readonly AttemptRecord[]): string {
  if (attempts.length === 0) return '[]';
  // Undefined members are left out.
  return JSON.stringify(
    attempts.map(({ provider, providerName, model, status, latencyMs, startMs, credential, isTraced, part }) => ({
      provider,
      provider_name: providerName,
      model,
      status,
      latency_ms: Math.round(latencyMs),
      start_ms: startMs && Math.round(startMs),
      credential,
      is_traced: isTraced,
      part: part && encodePart(part),
    })),
  );
}

function encodePart({ tokensPrompt, tokensCompletion, costNanoUsd, endMs }: AttemptPart): JsonObject {
  return {
    tokens_prompt: tokensPrompt,
    tokens_completion: tokensCompletion,
    cost_nano_usd: costNanoUsd,
    end_ms: endMs && Math.round(endMs),
  };
}

function decodePart(part: Json | undefined): { readonly part?: AttemptPart } {
  if (part === undefined || !isJsonObject(part)) return {};
  const { cost_nano_usd: cost, end_ms: endMs } = part;
  const tokensPrompt = numberOf(part['tokens_prompt']);
  const tokensCompletion = numberOf(part['tokens_completion']);
  return {
    part: {
      tokensPrompt,
      tokensCompletion,
      costNanoUsd: typeof cost === 'number' ? cost : null,
      ...(typeof endMs === 'number' && { endMs }),
    },
  };
}

/** Leaves out what it cannot decode: an odd row must not hide its own record. */
function decodeAttempts(text: string): readonly AttemptRecord[] {
  return objectsIn(text).map((attempt) => ({
    provider: textOf(attempt['provider']),
    ...(typeof attempt['provider_name'] === 'string' && { providerName: attempt['provider_name'] }),
    model: textOf(attempt['model']),
    status: typeof attempt['status'] === 'number' ? attempt['status'] : null,
    latencyMs: numberOf(attempt['latency_ms']),
    ...(typeof attempt['start_ms'] === 'number' && { startMs: attempt['start_ms'] }),
    ...(typeof attempt['credential'] === 'string' && { credential: attempt['credential'] }),
    ...(attempt['is_traced'] === true && { isTraced: true as const }),
    ...decodePart(attempt['part']),
  }));
}

function encodeWarnings(warnings: readonly Warning[]): string {
  return warnings.length === 0 ? '[]' : JSON.stringify(warnings);
}

/** The codes that are read back; a code that is missing here does not compile. */
const WARNING_CODES: Readonly<Record<Warning['code'], true>> = {
  'field-dropped': true,
  'field-changed': true,
  'content-dropped': true,
  'event-skipped': true,
  'answer-rescued': true,
  'filter-matched': true,
  'price-unknown': true,
  'usage-implausible': true,
  budget_reached: true,
  budget_unknown: true,
  unstable_order: true,
};
const CODES: readonly string[] = Object.keys(WARNING_CODES);

function isCode(value: Json | undefined): value is Warning['code'] {
  return typeof value === 'string' && CODES.includes(value);
}

function decodeWarnings(text: string): readonly Warning[] {
  return objectsIn(text).flatMap((warning) => {
    const { code } = warning;
    if (!isCode(code)) return [];
    return [{ code, path: textOf(warning['path']), message: textOf(warning['message']) }];
  });
}

function objectsIn(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
