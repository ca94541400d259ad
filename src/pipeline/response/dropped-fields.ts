import type { Block, Citation } from '../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { Extra, FormatId, Warning } from '../../canonical/extra.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { ClientFormat } from '../../wire/format.ts';

const NAME_CHARS_MAX = 80;

/** Fields whose loss needs no warning. */
const STATES_NOTHING: ReadonlySet<string> = new Set([
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
const HOLDERS: ReadonlySet<string> = new Set(['choices', 'message', 'delta', 'function', 'images', 'audio']);

/**
 * Warns of what a response holds that the caller's format cannot express: blocks, citations, and fields that only the
 * upstream's format knows. Each once, however often it comes. Deltas are not looked at: they are too many. A class because it
 * lives as long as its response.
 * @spec request-11
 */
export class DroppedFields {
  readonly #log: Pick<RequestLog, 'warnings' | 'warn' | 'request'>;
  readonly #format: ClientFormat;
  /** Calls so far for a caller of the older `functions`, whose format holds one. */
  #legacyCalls = 0;

  constructor(log: Pick<RequestLog, 'warnings' | 'warn' | 'request'>, format: ClientFormat) {
    this.#log = log;
    this.#format = format;
  }

  /** @param upstream the format of the upstream; fields that rode along in another were made for callers of that one */
  note(batch: EventBatch, upstream: FormatId): void {
    for (const event of batch) {
      if (event.type === 'block-delta' || event.type === 'block-end') continue;
      if (event.type === 'warning') this.#log.warn([event.warning]);
      else this.#noteEvent(event, upstream);
    }
  }

  #noteEvent(event: GenerationEvent, upstream: FormatId): void {
    if (upstream !== this.#format.id) noteExtras(event, upstream, this.#format, this.#warn);
    if (event.type === 'citation') noteCitation(event.citation, this.#format, this.#warn);
    else if (event.type === 'block-start') this.#noteBlock(event.block);
  }

  #noteBlock(block: Block): void {
    if (!this.#format.supports(block)) this.#warn(leftOut(nameOf(block), this.#format));
    else if (this.#isFurtherCall(block))
      this.#warn({
        code: 'content-dropped',
        path: 'content',
        message: `function_call holds one call, so this one was left out: ${nameOf(block).slice(0, NAME_CHARS_MAX)}`,
      });
    if (block.type === 'text')
      for (const citation of block.citations ?? []) noteCitation(citation, this.#format, this.#warn);
  }

  /** Whether it is a call after the one that a caller of the older `functions` reads. */
  #isFurtherCall(block: Block): boolean {
    if (block.type !== 'tool-call' || block.runBy !== 'caller') return false;
    if (this.#log.request.directives.legacyCalls !== true) return false;
    return ++this.#legacyCalls > 1;
  }

  readonly #warn = (warning: Warning): void => {
    const { warnings } = this.#log;
    const isKnown = warnings.some(({ path, message }) => path === warning.path && message === warning.message);
    if (!isKnown) this.#log.warn([warning]);
  };
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
  else if (event.type === 'block-start') noteMembers(format.supports(event.block) ? event.block.extra : undefined);
  else if ('extra' in event) noteMembers(event.extra);
}

function noteFields(fields: JsonObject, format: ClientFormat, path: string, note: Note): void {
  for (const [name, value] of Object.entries(fields)) {
    if (STATES_NOTHING.has(name) || value === null) continue;
    if (HOLDERS.has(name) && isJsonObject(value)) noteFields(value, format, path, note);
    else
      note({
        code: 'field-dropped',
        path: path + name.slice(0, NAME_CHARS_MAX),
        message: `the format ${format.id} has no such field in a response`,
      });
  }
}

function leftOut(what: string, format: ClientFormat): Warning {
  return {
    code: 'content-dropped',
    path: 'content',
    message: `the format ${format.id} has no field for a part of the response: ${what.slice(0, NAME_CHARS_MAX)}`,
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
