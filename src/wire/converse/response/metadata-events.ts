import type { GenerationEvent } from '../../../canonical/events.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { decodeUsage } from './usage.ts';
import { objectAt, textOf, type WireObject } from '../../json-fields.ts';

/** Kept as they came: what a guardrail found, and the latency that was served. How long it took is not worth keeping. */
const KEPT_MEMBERS = ['trace', 'performanceConfig'] as const;

/** What stands beside the message: in a stream an event of its own, in a whole response members of the body. */
export function metadataEvents(metadata: JsonObject): readonly GenerationEvent[] {
  const events: GenerationEvent[] = [];
  const { usage } = metadata;
  const tier = textOf(objectAt(metadata, 'serviceTier')['type']);
  if (isJsonObject(usage)) events.push({ type: 'usage', usage: decodeUsage(usage, tier) });
  const fields: WireObject = {};
  for (const member of KEPT_MEMBERS) if (isJsonObject(metadata[member])) fields[member] = metadata[member];
  if (Object.keys(fields).length > 0) events.push({ type: 'extra', extra: { format: 'converse', fields } });
  return events;
}
