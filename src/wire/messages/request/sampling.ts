import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Dialect } from '../../format.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import type { WireObject } from '../../json-fields.ts';
import { isBlank } from './content-out.ts';

/** @spec messages-3: the vendor's range ends at 1. */
const TEMPERATURE_MAX = 1;
/** @spec reasoning-8: what the vendor takes beside thinking. */
const THINKING_TOP_P_MIN = 0.95;

/** @spec messages-3, reasoning-8, route-20 */
export function encodeSampling(
  request: GenerationRequest,
  thinking: boolean,
  dialect: Dialect,
  supports: (parameter: string) => boolean,
  warnings: Warnings,
): WireObject {
  const { temperature, topP, topK } = request.settings;
  const own = request.format === 'messages';
  const encoded: WireObject = {};
  // The newest models take no sampling at all; callers of this format know that themselves.
  const fixed = !own && dialect.thinking === 'adaptive-only';
  const restricted = fixed || (!own && thinking);
  if (temperature !== undefined) {
    if (restricted) warnings.add('field-dropped', 'temperature', 'the model takes none while it thinks');
    else encoded['temperature'] = clampTemperature(temperature, dialect, own, warnings);
  }
  if (topP !== undefined) {
    if (fixed || (restricted && topP < THINKING_TOP_P_MIN))
      warnings.add('field-dropped', 'top_p', `the model takes none below ${THINKING_TOP_P_MIN} while it thinks`);
    else if (!own && dialect.oneSampler === true && encoded['temperature'] !== undefined)
      warnings.add('field-dropped', 'top_p', 'the model takes it or the temperature, not both');
    else encoded['top_p'] = topP;
  }
  if (topK !== undefined) {
    if (restricted || !supports('top_k')) warnings.add('field-dropped', 'top_k', 'the model takes none');
    // Chat has 0 for "off"; this format has no member for it.
    else if (own || topK > 0) encoded['top_k'] = topK;
  }
  const stop = encodeStop(request, warnings);
  if (stop !== undefined) encoded['stop_sequences'] = stop;
  return encoded;
}

function clampTemperature(temperature: number, dialect: Dialect, own: boolean, warnings: Warnings): number {
  // Hosts that only speak the format may have a wider range, and its own callers know it.
  if (temperature <= TEMPERATURE_MAX || (own && dialect.vendor !== true)) return temperature;
  warnings.add('field-changed', 'temperature', `clamped to ${TEMPERATURE_MAX}`);
  return TEMPERATURE_MAX;
}

function encodeStop(request: GenerationRequest, warnings: Warnings): readonly string[] | undefined {
  const { stop } = request.settings;
  if (stop === undefined || request.format === 'messages') return stop;
  const visible = stop.filter((sequence) => !isBlank(sequence));
  if (visible.length < stop.length)
    warnings.add('field-dropped', 'stop', 'a sequence of white space is refused by this format');
  return visible.length === 0 ? undefined : visible;
}
