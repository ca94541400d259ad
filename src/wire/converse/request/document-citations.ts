import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { isJsonObject } from '../../../lib/json.ts';
import type { ConverseFacts } from '../dialect.ts';

/** Whether a document is to be cited: a setting of the messages format, which this format has under the same name. */
export function isCited({ extra }: MediaBlock, { claude }: ConverseFacts): boolean {
  const setting = extra?.fields['citations'];
  return claude === true && isJsonObject(setting) && setting['enabled'] === true;
}

/** The request without the passthrough fields that the encoder uses: those are not lost. */
export function withoutConsumedFields(request: GenerationRequest, facts: ConverseFacts): GenerationRequest {
  const isConsumed = (block: Block): boolean =>
    (block.type === 'media' && isCited(block, facts)) ||
    (block.type === 'tool-result' && block.content.some(isConsumed));
  const strip = (block: Block): Block => {
    if (block.type === 'tool-result') return { ...block, content: block.content.map(strip) };
    if (block.extra === undefined || !isConsumed(block)) return block;
    const { citations: _citations, ...fields } = block.extra.fields;
    return { ...block, extra: { ...block.extra, fields } };
  };
  if (!request.turns.some(({ blocks }) => blocks.some(isConsumed))) return request;
  return { ...request, turns: request.turns.map((turn) => ({ ...turn, blocks: turn.blocks.map(strip) })) };
}
