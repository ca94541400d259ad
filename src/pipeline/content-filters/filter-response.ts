import type { Block } from '../../canonical/blocks.ts';
import type {
  BlockDeltaEvent,
  CitationEvent,
  EventBatch,
  EventSource,
  GenerationEvent,
} from '../../canonical/events.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { AnswerWindow, Mark, RuleHit, TextInspector } from '../../content-filters/contract.ts';
import type { FilterRules } from './filter-rules.ts';
import { blockOf, nameOf, noteFindings } from './filter-stages.ts';
import type { RequestFacts, UpstreamResponse } from '../request.ts';

/** Beyond what has to be held back, so much more gathers before it is looked through: a look costs as much for one word. */
const LOOK_CHARS_MIN = 64;
/** Of what has gone out, a look sees so much, to tell where words begin. */
const BEHIND_CHARS = 64;
/** Arguments of a tool are looked through as a whole: half of a JSON text is none. */
const INPUT_CHARS_MAX = 4_000_000;
/** What is held back of a text while a match goes on and on; a longer one is refused. */
export const OPEN_MATCH_CHARS_MAX = 262_144;
/** While nothing can go out, a text is looked through again when it has grown by this part: else it takes the square of its length. */
const LOOK_AGAIN_SHARE = 0.25;

/**
 * The same answer, as filters with `scan_output` let it through. Text and reasoning are held back by the longest match, up
 * to a bound; arguments of tools until they are complete. What only one format knows, media, and sources pass.
 * @returns `committed` itself where nothing is to be looked for
 * @spec filter-11
 */
export async function filterResponse(
  { inspector }: { readonly inspector: TextInspector },
  response: UpstreamResponse,
  { facts, filters, signal }: Pick<FilterResponseInput, 'facts' | 'filters' | 'signal'>,
): Promise<UpstreamResponse> {
  if (filters.rules.length === 0) return response;
  const window = await inspector.windowOf(filters.rules);
  return new FilteredResponse(response, { inspector, filters, facts, signal, window });
}

interface FilterResponseInput {
  readonly inspector: TextInspector;
  readonly filters: FilterRules;
  readonly facts: RequestFacts;
  readonly signal: AbortSignal;
  readonly window: AnswerWindow;
}

/** A block whose text is looked through. */
interface HeldBlock {
  readonly form: 'plain' | 'json';
  /** What came and has not gone out. */
  held: string;
  /** The end of what has gone out, as it came. */
  behind: string;
  /** It is not looked through before so much of it is held. */
  nextLookChars: number;
  redacted: boolean;
}

/** A class because it lives as long as its answer. */
class FilteredResponse implements UpstreamResponse, EventSource {
  readonly #response: UpstreamResponse;
  readonly #input: FilterResponseInput;
  readonly #blocks = new Map<number, HeldBlock>();
  readonly #hits = new Map<number, Set<string>>();
  readonly #skipped = new Set<number>();
  #redacted = false;
  #isOver = false;

  constructor(response: UpstreamResponse, input: FilterResponseInput) {
    this.#response = response;
    this.#input = input;
  }

  get candidate(): UpstreamResponse['candidate'] {
    return this.#response.candidate;
  }

  get startedMs(): number {
    return this.#response.startedMs;
  }

  get firstTokenMs(): number {
    return this.#response.firstTokenMs;
  }

  get echoes(): UpstreamResponse['echoes'] {
    return this.#response.echoes;
  }

  get source(): EventSource {
    return this;
  }

  cancel(): void {
    this.#isOver = true;
    this.#response.source.cancel();
  }

  /** @throws GatewayError when the caller must have no more of it */
  async read(): Promise<EventBatch | undefined> {
    while (!this.#isOver) {
      // As it is now: blocks change while the batch is looked through.
      const held = Array.from(this.#blocks.values(), (block) => block.held);
      const batch = await this.#response.source.read();
      try {
        const events = batch === undefined ? await this.#close() : await this.#pass(batch);
        if (events.length > 0) return events;
      } catch (error) {
        this.#meter(held, batch ?? []);
        throw error;
      }
    }
    return undefined;
  }

  /**
   * What is blocked does not reach the relay, which meters the response, and it came all the same.
   * @param held counted here alone: to count it with every batch would take as long as its length squared
   */
  #meter(held: readonly string[], batch: EventBatch): void {
    const { meter } = this.#input.facts;
    for (const text of held) meter.bytes += Buffer.byteLength(text);
    // It is the filter that ended the response, whatever became of its stream.
    meter.push(batch.filter(({ type }) => type !== 'failed'));
  }

  async #pass(batch: EventBatch): Promise<EventBatch> {
    const out: GenerationEvent[] = [];
    for (const event of batch) {
      switch (event.type) {
        case 'block-start':
          out.push(this.#open(event.index, event.block));
          break;
        case 'block-delta':
          out.push(...(await this.#add(event)));
          break;
        case 'block-end':
          out.push(...(await this.#release(event.index, true)), event);
          this.#blocks.delete(event.index);
          break;
        case 'citation':
          out.push(this.#redacted ? withoutPlace(event) : event);
          break;
        case 'end':
        case 'failed':
          out.push(...(await this.#close()), event);
          break;
        case 'start':
        case 'usage':
        case 'warning':
        case 'extra':
        case 'tool-progress':
          out.push(event);
          break;
      }
    }
    for (const index of this.#blocks.keys()) out.push(...(await this.#release(index, false)));
    return out;
  }

  /** What it begins with may be the beginning of a match. */
  #open(index: number, block: Block): GenerationEvent {
    const form = formOf(block);
    if (form === undefined || !('text' in block || 'input' in block)) return { type: 'block-start', index, block };
    const held = 'input' in block ? block.input : block.text;
    this.#blocks.set(index, { form, held, behind: '', nextLookChars: 0, redacted: false });
    return { type: 'block-start', index, block: 'input' in block ? { ...block, input: '' } : { ...block, text: '' } };
  }

  /** What else a delta says (how likely each word was) says the words again: it does not go on. */
  async #add(event: BlockDeltaEvent): Promise<EventBatch> {
    const block = this.#blocks.get(event.index);
    if (block === undefined) return [event];
    if (event.text === undefined) {
      const released = await this.#release(event.index, true);
      // A signature is of the words as they were.
      return block.redacted ? released : [...released, event];
    }
    block.held += event.text;
    if (block.form === 'json' && block.held.length > INPUT_CHARS_MAX)
      throw new GatewayError(
        'permission_denied',
        'Response blocked by content filter: arguments of a tool are too long.',
      );
    return [];
  }

  /** @param isComplete nothing more of the block follows */
  async #release(index: number, isComplete: boolean): Promise<EventBatch> {
    const block = this.#blocks.get(index);
    if (block === undefined || block.held === '') return [];
    const { window } = this.#input;
    const charsMin = Math.max(window.chars + LOOK_CHARS_MIN, block.nextLookChars);
    if (!isComplete && (block.form === 'json' || block.held.length < charsMin)) return [];
    const text = block.behind + block.held;
    const marks = await this.#look(text, block);
    const from = block.behind.length;
    const end = isComplete ? text.length : endOfRelease(text, marks, window);
    block.nextLookChars = end <= from ? block.held.length * (1 + LOOK_AGAIN_SHARE) : 0;
    if (!isComplete && text.length - end > OPEN_MATCH_CHARS_MAX) throw this.#tooLong();
    if (end <= from) return [];
    const released = replaceMarks(text, marks, from, end);
    block.redacted ||= released.isChanged;
    this.#redacted ||= released.isChanged;
    block.held = text.slice(end);
    block.behind = text.slice(Math.max(0, end - BEHIND_CHARS), end);
    return [{ type: 'block-delta', index, text: released.text }];
  }

  async #look(text: string, { form }: HeldBlock): Promise<readonly Mark[]> {
    const { inspector, filters, signal } = this.#input;
    const inspection = await inspector.inspect([{ text, form, byUser: false }], filters.rules, signal);
    for (const { rule, patterns } of inspection.hits) this.#note(rule, patterns);
    for (const rule of inspection.skipped) this.#skipped.add(rule);
    const blocked = blockOf('answer', filters, inspection);
    if (blocked === undefined) return inspection.redacted.get(0)?.marks ?? [];
    this.#notify(inspection.unfinished);
    throw blocked;
  }

  #tooLong(): GatewayError {
    const { filters, window } = this.#input;
    this.#notify(window.longRules);
    const names = window.longRules.map((index) => filters.rules[index]).flatMap((rule) => (rule ? [nameOf(rule)] : []));
    return new GatewayError(
      'permission_denied',
      `Response blocked by content filter: ${names.join(', ')}, whose match may be longer than the ${OPEN_MATCH_CHARS_MAX} characters of a text that are held back.`,
      { metadata: { patterns: [] } },
    );
  }

  #note(rule: number, patterns: RuleHit['patterns']): void {
    this.#hits.set(rule, (this.#hits.get(rule) ?? new Set()).union(new Set(patterns)));
  }

  async #close(): Promise<EventBatch> {
    if (this.#isOver) return [];
    const out: GenerationEvent[] = [];
    for (const index of this.#blocks.keys()) out.push(...(await this.#release(index, true)));
    this.#isOver = true;
    this.#notify([]);
    return out;
  }

  #notify(unfinished: readonly number[]): void {
    const { facts, filters } = this.#input;
    const hits = [...this.#hits].map(([rule, patterns]) => ({ rule, patterns: [...patterns] }));
    noteFindings(facts, 'answer', filters, { hits, skipped: [...this.#skipped], unfinished });
  }
}

/** How it is looked through; `undefined`: not at all. */
function formOf(block: Block): HeldBlock['form'] | undefined {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return 'plain';
    case 'reasoning':
      return block.form === 'encrypted' ? undefined : 'plain';
    case 'tool-call':
      return 'json';
    case 'media':
    case 'opaque':
    case 'tool-result':
      break;
  }
  return undefined;
}

/** Up to where nothing can change any more, whatever follows: no match, and no character, is cut in two. */
function endOfRelease(text: string, marks: readonly Mark[], { chars, openStart }: AnswerWindow): number {
  let end = Math.min(text.length - chars, openStart(text));
  for (const mark of marks)
    // A match that goes on and on is replaced as far as it has come.
    if (mark.start < end && mark.end > end) end = text.length - mark.start > 2 * chars ? mark.end : mark.start;
  const isInPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return isInPair ? end - 1 : end;
}

/** What stands from there to there, with all marks that reach into it replaced. */
function replaceMarks(
  text: string,
  marks: readonly Mark[],
  from: number,
  end: number,
): { readonly text: string; readonly isChanged: boolean } {
  const pieces: string[] = [];
  let at = from;
  let isChanged = false;
  for (const mark of marks) {
    if (mark.end <= from || mark.start >= end) continue;
    pieces.push(text.slice(at, Math.max(at, mark.start)), mark.label);
    at = mark.end;
    isChanged = true;
  }
  return { text: pieces.join('') + text.slice(at, end), isChanged };
}

function withoutPlace(event: CitationEvent): CitationEvent {
  if (event.citation.type !== 'url') return event;
  const { start: _start, end: _end, ...citation } = event.citation;
  return { ...event, citation };
}
