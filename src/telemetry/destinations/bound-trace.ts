import type { Json, JsonObject } from '../../lib/json.ts';
import { redactSecrets } from '../../lib/text/redact-secrets.ts';

const KEYS_MAX = 64;
const KEY_CHARS_MAX = 256;
const VALUE_CHARS_MAX = 4_096;
const TRACE_CHARS_MAX = 16_384;
/** They are sent as digits, and as a hash where they are none. */
const ID_KEYS: ReadonlySet<string> = new Set(['trace_id', 'parent_span_id']);

/** A caller's `trace` object, cut to what destinations receive of it, without what looks like a key. @spec destination-31 */
export function boundTrace(trace: JsonObject): JsonObject {
  const kept: Record<string, Json> = {};
  let left = TRACE_CHARS_MAX;
  for (const [key, value] of Object.entries(trace).slice(0, KEYS_MAX)) {
    if (value === undefined || key.length > KEY_CHARS_MAX) continue;
    const bounded = boundValue(value, !ID_KEYS.has(key));
    if (bounded === undefined) continue;
    left -= key.length + (typeof bounded === 'string' ? bounded.length : 8);
    if (left < 0) break;
    kept[redactSecrets(key)] = bounded;
  }
  return kept;
}

/** An object or a list is its JSON, which is whole or not there: attributes are plain values. */
function boundValue(value: Json, isShown: boolean): Json | undefined {
  if (typeof value === 'string') {
    const text = value.slice(0, VALUE_CHARS_MAX);
    return isShown ? redactSecrets(text) : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARS_MAX ? undefined : redactSecrets(text);
}
