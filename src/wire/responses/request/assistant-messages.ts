import type { Block, RefusalBlock, TextBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { pathOfCitations } from '../../gateway/source/source-paths.ts';
import { textOf } from '../../json-fields.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import type { LocatedTurn } from '../../gateway/source/source-positions.ts';
import { warnOfUnsupportedBlock } from '../../unsupported-blocks.ts';
import type { SentCall } from '../../gateway/tool-results/match-tool-results.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeName, encodeNativeCall, nativeKindOf } from './native-calls.ts';
import { takesBreakpoints } from './cache-control.ts';
import { imageItemOf, takesItem } from './opaque-items.ts';
import { addReasoning, encodeReasoning, takesReasoning, type ReasoningItem } from './reasoning-history.ts';

export interface EncodedAssistant {
  readonly items: readonly JsonObject[];
  /** Calls that want a result. */
  readonly calls: readonly SentCall[];
}

/** A message whose parts are still coming. */
interface OpenMessage {
  readonly phase: string | undefined;
  readonly parts: JsonObject[];
}

/** One item of a turn, before it is known whether all of them can be sent. */
type Draft = { readonly reasoning: ReasoningItem } | { readonly message: OpenMessage } | { readonly item: JsonObject };

const CALL_TYPES: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);

/** The items of assistant turns in a row, in their order. */
export function encodeAssistant(
  run: readonly LocatedTurn[],
  callId: (given: string) => string,
  context: EncodeContext,
): EncodedAssistant {
  const items: JsonObject[] = [];
  const calls: SentCall[] = [];
  for (const placed of run) items.push(...new TurnEncoder(context, callId, calls).encode(placed));
  if (context.target.dialect.callsLast !== true) return { items, calls };
  const isCall = (item: JsonObject): boolean => CALL_TYPES.has(item['type']);
  return { items: [...items.filter((item) => !isCall(item)), ...items.filter(isCall)], calls };
}

/** Holds what is open while the blocks of one turn become items. */
class TurnEncoder {
  readonly #context: EncodeContext;
  readonly #callId: (given: string) => string;
  readonly #calls: SentCall[];
  readonly #drafts: Draft[] = [];
  readonly #reasoning: ReasoningItem[] = [];

  constructor(context: EncodeContext, callId: (given: string) => string, calls: SentCall[]) {
    this.#context = context;
    this.#callId = callId;
    this.#calls = calls;
  }

  encode({ turn, blocks }: LocatedTurn): readonly JsonObject[] {
    let name = turn.name;
    for (const { block, path } of blocks) {
      const isText = block.type === 'text' || block.type === 'refusal';
      // The format has no names of participants. @spec chat-6
      if (isText && block.text !== '' && name !== undefined) {
        this.#add({ ...block, text: `${name}: ${block.text}` }, path);
        name = undefined;
      } else this.#add(block, path);
    }
    const kept = this.#drafts.slice(0, this.#drafts.findLastIndex((draft) => !('reasoning' in draft)) + 1);
    for (const draft of this.#drafts.slice(kept.length)) if ('reasoning' in draft) this.#dropReasoning(draft.reasoning);
    return kept.flatMap((draft) => this.#encode(draft));
  }

  #add(block: Block, path: string): void {
    switch (block.type) {
      case 'text':
      case 'refusal':
        this.#say(block, path);
        return;
      case 'reasoning': {
        if (!takesReasoning(block, this.#context.target.dialect, this.#context.request.format)) {
          this.#warn(path, 'reasoning of another model cannot be sent back to this one');
          return;
        }
        const item = addReasoning(this.#reasoning, block, path);
        if (item === undefined) return;
        this.#reasoning.push(item);
        this.#drafts.push({ reasoning: item });
        return;
      }
      case 'tool-call':
        this.#call(block, path);
        return;
      case 'opaque':
        if (takesItem(block, this.#context.target.dialect)) this.#drafts.push({ item: block.value });
        else warnOfUnsupportedBlock(block, path, this.#context.warnings.add);
        return;
      case 'media': {
        const item = imageItemOf(block, this.#context.target.dialect);
        if (item !== undefined) this.#drafts.push({ item });
        else warnOfUnsupportedBlock(block, path, this.#context.warnings.add);
        return;
      }
      case 'tool-result':
        warnOfUnsupportedBlock(block, path, this.#context.warnings.add);
        return;
    }
  }

  /** Texts with nothing between them are parts of one message. */
  #say(block: TextBlock | RefusalBlock, path: string): void {
    const { dialect } = this.#context.target;
    if (block.type === 'text' && block.citations !== undefined && block.citations.length > 0)
      this.#warn(pathOfCitations(this.#context.request.format, path), 'sources of a response are not sent back');
    if (block.cache !== undefined && takesBreakpoints(dialect))
      this.#context.warnings.add('field-dropped', markPath(block, path), 'stands on input only in this format');
    if (block.text === '') return;
    const phase = dialect.messagePhases === true ? textOf(fieldsOf(block, 'responses')?.['phase']) : undefined;
    const last = this.#drafts.at(-1);
    const part =
      block.type === 'text' ? { type: 'output_text', text: block.text } : { type: 'refusal', refusal: block.text };
    if (last !== undefined && 'message' in last && last.message.phase === phase) last.message.parts.push(part);
    else this.#drafts.push({ message: { phase, parts: [part] } });
  }

  #call(block: ToolCallBlock, path: string): void {
    const fields = fieldsOf(block, 'responses');
    if (block.runBy === 'upstream') {
      // It can go back only as the very item that it was.
      if (typeof fields?.['type'] === 'string') this.#drafts.push({ item: fields });
      else this.#warn(path, 'a tool that a provider ran cannot be sent back');
      return;
    }
    if (block.cache !== undefined && takesBreakpoints(this.#context.target.dialect))
      this.#context.warnings.add('field-dropped', markPath(block, path), 'stands on input only in this format');
    const { dialect } = this.#context.target;
    const id = this.#callId(block.id);
    this.#calls.push({ block, id });
    const kind = nativeKindOf(block, dialect);
    const native = kind && encodeNativeCall(kind, block, id, dialect);
    const { name, namespace } = encodeName(block, dialect);
    const item = native ?? {
      type: 'function_call',
      call_id: id,
      name,
      ...(namespace !== undefined && { namespace }),
      // Hosts parse it.
      arguments: block.input === '' ? '{}' : block.input,
    };
    this.#drafts.push({ item: withExtra(item, fields) });
  }

  #encode(draft: Draft): readonly JsonObject[] {
    if ('item' in draft) return [draft.item];
    if ('message' in draft) return [encodeMessage(draft.message)];
    const item = encodeReasoning(draft.reasoning, this.#context.target.dialect, this.#context.request.format);
    if (item === undefined) this.#dropReasoning(draft.reasoning);
    return item === undefined ? [] : [item];
  }

  /** Reasoning without what came of it is refused, and nothing came of it when the response was cut short. */
  #dropReasoning({ path }: ReasoningItem): void {
    this.#warn(path, 'reasoning goes back only encrypted, and before what followed it');
  }

  #warn(path: string, message: string): void {
    this.#context.warnings.add('content-dropped', path, message);
  }
}

/** One text is a string, which every host takes. */
function encodeMessage({ phase, parts }: OpenMessage): JsonObject {
  const [first] = parts;
  const text = parts.length === 1 ? textOf(first?.['text']) : undefined;
  const message: Record<string, Json> = { type: 'message', role: 'assistant', content: text ?? parts };
  if (phase !== undefined) message['phase'] = phase;
  return message;
}

function markPath({ cache }: Block, path: string): string {
  return `${path}.${cache?.kind === 'explicit' ? 'prompt_cache_breakpoint' : 'cache_control'}`;
}
