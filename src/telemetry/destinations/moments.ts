import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { GenerationRecord } from '../record.ts';
import type { ExportedMoment, ExportedRoute } from './contract.ts';

/** Of one record: later ones are in no trace. */
const MOMENTS_MAX = 100;
const TEXT_CHARS_MAX = 64;
/** Reasons why endpoints were left out, each with a count. */
const REASONS_MAX = 20;

type Facts = Pick<GenerationRecord, 'served' | 'rescues' | 'report'>;

/** What happened at one moment of a request, in short: turns of the model, streams that another endpoint continued, filters. */
export function encodeMoments(record: Facts): readonly JsonObject[] {
  return [...filters(record), ...turnsAndRescues(record)].slice(0, MOMENTS_MAX);
}

function turnsAndRescues({ served, rescues, report }: Facts): readonly JsonObject[] {
  const at = (ms: number | undefined): number | undefined => ms && Math.max(0, Math.round(ms - report.arrivedMs));
  const moments: JsonObject[] = [];
  let [turns, prompt, completion, rescued] = [0, 0, 0, 0];
  const endTurn = (endedMs: number | undefined): void => {
    moments.push({ kind: 'turn', n: ++turns, at: at(endedMs), in: prompt, out: completion });
    [prompt, completion] = [0, 0];
  };
  for (const [index, { usage, isOver, endedMs }] of served.entries()) {
    prompt += usage.promptTokens;
    completion += usage.completionTokens;
    if (isOver === true) endTurn(endedMs);
    else if (endedMs !== undefined)
      moments.push({
        kind: 'rescue',
        at: at(endedMs),
        method: rescues[rescued++],
        provider: served[index + 1]?.endpoint.provider.slice(0, TEXT_CHARS_MAX),
      });
  }
  if (rescues.at(-1) === 'failed') moments.push({ kind: 'rescue', method: 'failed' });
  // A response of one turn is that of its record.
  if (turns > 0 && served.at(-1)?.isOver !== true) endTurn(undefined);
  return moments;
}

/** Which one did what. What it found is content. */
function filters({ report }: Facts): readonly JsonObject[] {
  return report.pipeline
    .filter(({ type }) => type === 'guardrail')
    .map(({ name, guardrailId, data, isOfResponse }) => ({
      kind: 'filter',
      ...(isOfResponse !== true && { at: 0 }),
      name: name.slice(0, TEXT_CHARS_MAX),
      action: data?.['action'],
      guardrail: guardrailId,
    }));
}

/** @param atMs when the request came. A moment without a time is that of the end */
export function decodeMoments(value: Json | undefined, atMs: number, endMs: number): readonly ExportedMoment[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((moment): readonly ExportedMoment[] => {
    const { kind, at, n, in: prompt, out: completion, method, provider, name, action, guardrail } = moment;
    // Within their request, whatever the clock did meanwhile.
    const place = { atMs: typeof at === 'number' ? Math.min(endMs, atMs + at) : endMs };
    if (kind === 'turn')
      return [
        { kind, ...place, n: Number(n), promptTokens: Number(prompt ?? 0), completionTokens: Number(completion ?? 0) },
      ];
    if (kind === 'rescue')
      return [
        {
          kind,
          ...place,
          method: typeof method === 'string' ? method : '',
          ...(typeof provider === 'string' && { provider }),
        },
      ];
    if (kind !== 'filter' || typeof name !== 'string') return [];
    return [
      {
        kind,
        ...place,
        name,
        ...(typeof action === 'string' && { action }),
        ...(typeof guardrail === 'string' && { guardrailId: guardrail }),
      },
    ];
  });
}

/** What a route was chosen from; `undefined`: nothing was chosen. */
export function encodeRoute({ plan }: GenerationRecord['report']): JsonObject | undefined {
  if (plan === undefined) return undefined;
  const reasons = new Map<string, number>();
  for (const { exclusion } of plan.considered)
    if (exclusion !== undefined && (reasons.has(exclusion) || reasons.size < REASONS_MAX))
      reasons.set(exclusion, (reasons.get(exclusion) ?? 0) + 1);
  return {
    ordering: plan.ordering,
    considered: plan.considered.length,
    left: plan.candidates.length + plan.cooling.length,
    resting: plan.cooling.length,
    ...(reasons.size > 0 && {
      reasons: [...reasons].map(([reason, count]) => `${reason.slice(0, TEXT_CHARS_MAX)}=${count}`),
    }),
  };
}

export function decodeRoute(value: Json | undefined): ExportedRoute | undefined {
  if (!isJsonObject(value)) return undefined;
  const { ordering, considered, left, resting, reasons } = value;
  return {
    ordering: typeof ordering === 'string' ? ordering : '',
    considered: Number(considered ?? 0),
    left: Number(left ?? 0),
    resting: Number(resting ?? 0),
    reasons: Array.isArray(reasons) ? reasons.filter((one) => typeof one === 'string') : [],
  };
}
