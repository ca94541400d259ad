import type { JsonObject } from '../../../lib/json.ts';

/** JSON text of members, each with a comma before it, to go on with an object that is being written. */
export function moreMembers(fields: JsonObject | undefined): string {
  if (fields === undefined) return '';
  const text = JSON.stringify(fields);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}
