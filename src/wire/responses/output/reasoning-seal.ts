import type { ReasoningBlock } from '../../../canonical/blocks.ts';
import type { FormatId } from '../../../canonical/extra.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity } from '../../format.ts';
import type { Containers } from '../containers.ts';

/** One block of a run of reasoning, as it is sealed: everything that its vendor wants back. */
export interface SealedBlock {
  readonly form: ReasoningBlock['form'];
  text: string;
  signature?: string;
  readonly id?: string;
  readonly carrier?: string;
  /** It is the signature of this call. */
  readonly callId?: string;
  /** It is the signature of the message before it. */
  readonly of?: 'previous';
  /** Among the blocks of its item. */
  readonly index: number;
}

export interface SealedRun {
  readonly item: string;
  readonly family: string;
  readonly blocks: readonly SealedBlock[];
}

/** @returns the text for `encrypted_content`; `undefined` where there would be too much of it, or no account to seal it for */
export type SealReasoning = (run: SealedRun) => string | undefined;

const VERSION = 1;

/** @param format the upstream's, as far as is known now */
export function createReasoningSeal(
  containers: Containers,
  identity: () => ResponseIdentity,
  format: () => FormatId | undefined,
): SealReasoning {
  return ({ item, family, blocks }) => {
    const { accountId, model, provider, createdS } = identity();
    if (accountId === undefined) return undefined;
    const seal = (sealed: readonly SealedBlock[]): string | undefined => {
      const content: JsonObject = {
        v: VERSION,
        item,
        family,
        format: format(),
        provider,
        model,
        at: createdS,
        blocks: sealed.map(encodeBlock),
      };
      return containers.seal('reasoning', accountId, content);
    };
    return seal(blocks) ?? seal(withoutTexts(blocks));
  };
}

/** Its members in one order, whenever each came. */
function encodeBlock({ form, text, signature, id, carrier, callId, of, index }: SealedBlock): JsonObject {
  return { form, text, signature, id, carrier, callId, of, index };
}

/** Of reasoning that is too long to be carried, the signatures alone. */
function withoutTexts(blocks: readonly SealedBlock[]): readonly SealedBlock[] {
  return blocks.flatMap((block) =>
    block.form === 'encrypted' || block.signature !== undefined
      ? [block.form === 'encrypted' ? block : { ...block, text: '' }]
      : [],
  );
}

/** Seals the summary of a conversation. */
export function createSummarySeal(
  containers: Containers,
  identity: () => ResponseIdentity,
): (summary: string) => string | undefined {
  return (summary) => {
    const { accountId, model, createdS, request } = identity();
    if (accountId === undefined) return undefined;
    const dropped = request?.response?.compacts?.length ?? 0;
    return containers.seal('compaction', accountId, { v: VERSION, summary, model, at: createdS, dropped });
  };
}
