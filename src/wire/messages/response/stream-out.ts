import type { EndEvent, EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import type { GatewayError } from '../../../canonical/gateway-error.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity, FinalUsage, ErrorContext, StreamEncoder } from '../../format.ts';
import type { WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';
import { BlockWriter } from './blocks-out.ts';
import { encodeEnd, encodeMessage } from './content-out.ts';
import { encodeError, UPSTREAM_ERROR } from './error-out.ts';
import { encodeFinalUsage, encodeUsage } from './usage.ts';

const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** Encodes a messages stream; its blocks are written by `BlockWriter`. */
export class MessagesStreamEncoder implements StreamEncoder {
  readonly #identity: ResponseIdentity;
  readonly #blocks = new BlockWriter(() => this.#beginMessage());
  #begun = false;
  #over = false;
  /** Unknown members of the response: those that came before it was begun, and those after. */
  readonly #messageFields: WireObject = {};
  readonly #lateFields: WireObject = {};
  #usage: Usage | undefined;
  #end: EndEvent | undefined;

  constructor(identity: ResponseIdentity) {
    this.#identity = identity;
  }

  encode(events: EventBatch): string {
    let frames = '';
    for (const event of events) frames += this.#blocks.relay(event) ?? this.#take(event);
    return frames;
  }

  /** The format has no place for the upstream's request. */
  debug(): string {
    return '';
  }

  close(finalUsage: FinalUsage): string {
    if (this.#over) return '';
    this.#over = true;
    const frames = this.#blocks.finish() + this.#beginMessage();
    const { serviceMetadata } = finalUsage;
    const metadata = serviceMetadata === undefined ? {} : { service_metadata: serviceMetadata };
    if (this.#end?.finish === 'error') {
      const { id } = this.#identity;
      return (
        frames +
        encodeFrame('error', { type: 'error', error: UPSTREAM_ERROR, request_id: id, ...metadata, user_id: null })
      );
    }
    const { native, calledTools, refusal } = this.#blocks;
    const traits = { native, calledTools, refused: refusal !== '' };
    const { stop, outer, inner } = encodeEnd(this.#end, traits, refusal);
    const usage = encodeFinalUsage(finalUsage);
    return (
      frames +
      encodeFrame('message_delta', {
        ...this.#lateFields,
        ...outer,
        type: 'message_delta',
        delta: { ...inner, ...stop },
        usage,
      }) +
      encodeFrame('message_stop', { type: 'message_stop', ...metadata })
    );
  }

  fail(error: GatewayError, _closing: FinalUsage | undefined, context: ErrorContext): string {
    if (this.#over) return '';
    this.#over = true;
    return encodeFrame('error', encodeError(error, context));
  }

  #take(event: GenerationEvent): string {
    switch (event.type) {
      case 'block-delta':
      case 'block-end':
        return this.#blocks.pass(event, event.index);
      case 'citation':
        return event.index < 0 ? this.#blocks.citeWhole(event) : this.#blocks.pass(event, event.index);
      case 'block-start':
        return this.#blocks.enter(event.index, event.block);
      case 'start':
        this.#blocks.native = event.format === 'messages';
        addExtra(this.#messageFields, event.extra);
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'extra':
        addExtra(this.#begun ? this.#lateFields : this.#messageFields, event.extra);
        return '';
      case 'end':
        this.#end = event;
        return '';
      case 'warning':
      case 'tool-progress':
      case 'failed':
        return '';
      default:
        return unreachable(event);
    }
  }

  /** Not before there is content: until then another provider may still answer (@spec stream-3). */
  #beginMessage(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const message = addExtra(
      { ...encodeMessage(this.#identity), usage: encodeUsage(this.#usage) },
      { format: 'messages', fields: this.#messageFields },
    );
    return encodeFrame('message_start', { type: 'message_start', message }) + PING;
  }
}

function encodeFrame(event: string, data: JsonObject): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
