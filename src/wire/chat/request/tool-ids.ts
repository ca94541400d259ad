import { hash } from 'node:crypto';
import type { JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import type { ChatDialect } from '../dialect.ts';

type CallIds = NonNullable<ChatDialect['callIds']>;

/** A message whose calls, or whose result, go by ids that the host takes. */
export function fitToolIds(message: JsonObject, rule: CallIds): JsonObject {
  const { tool_calls: calls, tool_call_id: id } = message;
  if (typeof id === 'string') return { ...message, tool_call_id: fitId(id, rule) };
  if (!Array.isArray(calls)) return message;
  const renamed = objectsOf(calls).map((call) => ({ ...call, id: fitId(textOf(call['id']) ?? '', rule) }));
  return { ...message, tool_calls: renamed };
}

const LEGAL: Readonly<Record<CallIds, RegExp>> = { nine: /^[a-zA-Z0-9]{9}$/, forty: /^[^]{1,40}$/ };

/** The same id always becomes the same one, so that a conversation keeps its prefix in the prompt cache. */
function fitId(id: string, rule: CallIds): string {
  if (LEGAL[rule].test(id)) return id;
  const digest = hash('sha256', id);
  return rule === 'nine' ? digest.slice(0, 9) : `call_${digest.slice(0, 32)}`;
}
