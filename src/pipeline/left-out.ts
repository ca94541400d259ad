import type { Block, Citation } from '../canonical/blocks.ts';
import type { GenerationEvent } from '../canonical/events.ts';
import type { Extra, FormatId, Warning } from '../canonical/extra.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat } from '../wire/format.ts';

const NAME_CHARS_MAX = 80;

/** Members of whose loss nobody need be told. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  // The gateway writes its own, or the order tells them.
  'id',
  'status',
  'created',
  'system_fingerprint',
  'index',
  'role',
  'type',
  // Said otherwise: with the usage, and as citations.
  'service_tier',
  'citations',
  'search_results',
  // In every answer of one vendor: where it was computed, and that the model itself called a tool.
  'inference_geo',
  'caller',
]);

/** Members that hold others of the same answer. */
const HOLDERS: ReadonlySet<string> = new Set(['choices', 'message', 'delta', 'function']);

/**
 * Notes what an event of an answer says that the caller's format has no words for: blocks, citations, and members that
 * only the upstream's format knows. Each once, however often it comes. Deltas are not looked at: they are too many.
 * @param spoken the format of the upstream; what rides along in another was made for callers of that one
 * @source decisions.md 17
 */
export function noteLeftOut(
  event: GenerationEvent,
  spoken: FormatId,
  format: ClientFormat,
  record: GenerationRecord,
): void {
  const isForeign = spoken !== format.id;
  if (!isForeign && event.type !== 'citation' && event.type !== 'block-start') return;
  const note = (warning: Warning): void => {
    const isKnown = record.warnings.some(({ path, message }) => path === warning.path && message === warning.message);
    if (!isKnown) record.warn([warning]);
  };
  if (isForeign) noteExtras(event, spoken, format, note);
  if (event.type === 'citation') noteCitation(event.citation, format, note);
  if (event.type !== 'block-start') return;
  const { block } = event;
  if (!format.canSay(block)) note(leftOut(nameOf(block), format));
  if (block.type === 'text') for (const citation of block.citations ?? []) noteCitation(citation, format, note);
}

type Note = (warning: Warning) => void;

function noteCitation(citation: Citation, format: ClientFormat, note: Note): void {
  if (citation.type === 'opaque' && citation.format !== format.id)
    note(leftOut(`citation ${textOf(citation.value['type'])}`, format));
}

function noteExtras(event: GenerationEvent, spoken: FormatId, format: ClientFormat, note: Note): void {
  const noteMembers = (extra: Extra | undefined, path = ''): void => {
    if (extra?.format === spoken) noteFields(extra.fields, format, path, note);
  };
  if (event.type === 'usage') noteMembers(event.usage.extra, 'usage.');
  else if (event.type === 'block-start') noteMembers(format.canSay(event.block) ? event.block.extra : undefined);
  else if ('extra' in event) noteMembers(event.extra);
}

function noteFields(fields: JsonObject, format: ClientFormat, path: string, note: Note): void {
  for (const [name, value] of Object.entries(fields)) {
    if (SAYS_NOTHING.has(name) || value === null) continue;
    if (HOLDERS.has(name) && isJsonObject(value)) noteFields(value, format, path, note);
    else
      note({
        code: 'field-dropped',
        path: path + name.slice(0, NAME_CHARS_MAX),
        message: `the format ${format.id} has no such member in an answer`,
      });
  }
}

function leftOut(what: string, format: ClientFormat): Warning {
  return {
    code: 'content-dropped',
    path: 'content',
    message: `the format ${format.id} has no words for a part of the answer: ${what.slice(0, NAME_CHARS_MAX)}`,
  };
}

function nameOf(block: Block): string {
  if (block.type === 'tool-call') return `${block.type} ${block.name}`;
  if (block.type === 'media') return block.media;
  return block.type === 'opaque' ? textOf(block.value['type']) || block.type : block.type;
}

function textOf(value: JsonObject[string]): string {
  return typeof value === 'string' ? value : '';
}
