import { hash } from 'node:crypto';
import type { Block, ReasoningBlock } from '../../canonical/blocks.ts';
import type { EventBatch } from '../../canonical/events.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { Clock } from '../../lib/clock.ts';
import { ExpiringCache } from '../../lib/cache/expiring-cache.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Dialect, UpstreamFormat } from '../../wire/format.ts';
import type { PassedValues } from './shared-values.ts';

const WRITTEN_MAX = 20_000;
export const WRITTEN_BYTES_MAX = 8 * 1_024 * 1_024;
const WRITTEN_LIFETIME_MS = 6 * 3_600_000;
/** For other processes. */
const SHARED_LIFETIME_MS = 3_600_000;
/** A longer text is not remembered. UTF-16 units. */
const REASONING_CHARS_MAX = 1_048_576;
/** The latest reasoning of a conversation, which is compared with what was written. */
const COMPARED_MAX = 16;

/** Members that answers of chat hosts write reasoning in as plain text. */
type PlainMember = 'reasoning_content' | 'reasoning';

/** The dialect of one endpoint: the adapter's, and over it what the operator says of the endpoint. */
export function dialectOf(
  { adapter }: Pick<Provider, 'adapter'>,
  format: UpstreamFormat['id'],
  { upstreamModel, reasoningHistory }: Pick<Endpoint, 'upstreamModel' | 'reasoningHistory'>,
): Dialect {
  const dialect = adapter.dialect({ format, model: upstreamModel });
  if (reasoningHistory === undefined || format !== 'chat') return dialect;
  return { ...dialect, reasoningMember: reasoningHistory };
}

/** Whether the member that takes reasoning back depends on what the upstream has written. */
export function learnsReasoningMember(
  format: UpstreamFormat['id'],
  { reasoningMember, reasoningMemberVaries }: Dialect,
  { reasoningHistory }: Pick<Endpoint, 'reasoningHistory'>,
): boolean {
  if (format !== 'chat' || reasoningHistory !== undefined) return false;
  return reasoningMember === undefined || reasoningMemberVaries === true;
}

/**
 * In which member an upstream of the chat format wrote its reasoning, by the text: hosts that are not known take it back in
 * the member that they write themselves, and callers of either format do not send that name back.
 */
export interface ReasoningMemory {
  /** The member of the latest reasoning of the conversation that this upstream wrote; `undefined`: it wrote none of it. */
  memberOf(
    request: GenerationRequest,
    writer: ReasoningWriter,
  ): PlainMember | undefined | Promise<PlainMember | undefined>;
  /** Keeps what the events of an answer show. */
  listen(writer: ReasoningWriter): (batch: EventBatch) => void;
}

export interface ReasoningWriter {
  /** Of the caller's account and workspace. */
  readonly scope: string;
  /** Slug. */
  readonly provider: string;
  readonly model: string;
}

export interface ReasoningMemoryDeps {
  readonly clock: Clock;
  /** Absent: there are no other processes. */
  readonly values?: PassedValues | undefined;
  /** Of the bytes that it may take at most, from 0 to 1. Absent: all of them. */
  readonly part?: number | undefined;
}

export function createReasoningMemory({ clock, values, part = 1 }: ReasoningMemoryDeps): ReasoningMemory {
  const written = new ExpiringCache<PlainMember>(
    { entriesMax: WRITTEN_MAX, bytesMax: Math.floor(WRITTEN_BYTES_MAX * part), lifetimeMs: WRITTEN_LIFETIME_MS },
    () => clock.monotonicMs(),
  );
  const keep = (key: string, member: PlainMember): void => written.set(key, member, member.length);
  return {
    memberOf(request, writer) {
      if (written.size === 0 && values === undefined) return undefined;
      const keys = latestReasoning(request).map((text) => keyOf(writer, text));
      for (const key of keys) {
        const member = written.get(key);
        if (member !== undefined) return member;
      }
      const [latest] = keys;
      if (values === undefined || latest === undefined) return undefined;
      return values.get(latest).then((value) => {
        const member = plainMember(value);
        if (member !== undefined) keep(latest, member);
        return member;
      });
    },
    listen(writer) {
      let open: { readonly index: number; readonly member: PlainMember; text: string } | undefined;
      return (batch) => {
        for (const event of batch) {
          if (event.type === 'block-start') {
            const member = isReadable(event.block) ? plainMember(event.block.carrier) : undefined;
            if (member !== undefined && 'text' in event.block)
              open = { index: event.index, member, text: event.block.text };
          } else if (open === undefined || !('index' in event) || event.index !== open.index) {
            continue;
          } else if (event.type === 'block-delta') {
            if (open.text.length <= REASONING_CHARS_MAX) open.text += event.text ?? '';
          } else if (event.type === 'block-end') {
            if (open.text.length > REASONING_CHARS_MAX || open.text.trim() === '') continue;
            const key = keyOf(writer, open.text);
            keep(key, open.member);
            values?.set(key, open.member, SHARED_LIFETIME_MS);
            open = undefined;
          }
        }
      };
    },
  };
}

function plainMember(name: string | undefined): PlainMember | undefined {
  return name === 'reasoning_content' || name === 'reasoning' ? name : undefined;
}

function isReadable(block: Block): block is ReasoningBlock {
  return block.type === 'reasoning' && block.form !== 'encrypted';
}

/** The latest first. */
function latestReasoning({ turns }: GenerationRequest): readonly string[] {
  const texts: string[] = [];
  for (let at = turns.length - 1; at >= 0 && texts.length < COMPARED_MAX; at--)
    for (const block of turns[at]?.blocks ?? [])
      if (isReadable(block) && block.text.trim() !== '') texts.push(block.text);
  return texts.slice(0, COMPARED_MAX);
}

/** Each workspace has its own, so that no caller learns what another one's model thought. */
function keyOf({ scope, provider, model }: ReasoningWriter, text: string): string {
  return `reasoning-member:${hash('sha256', JSON.stringify([scope, provider, model, text.trim()]), 'base64')}`;
}
