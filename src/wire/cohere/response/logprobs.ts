import type { Extra } from '../../../canonical/extra.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { itemsOf, objectsOf, textOf } from '../../json-fields.ts';

/**
 * Log probabilities as passthrough fields of the chat format, the only one that shows them to callers. A piece of several
 * tokens is one entry, whose probability is their product.
 * @source types of the vendor's SDK, cohere-ai/cohere-python `LogprobItem` (2026-08)
 */
export function chatLogprobs(items: readonly JsonObject[]): Extra | undefined {
  const content = items.flatMap(decodeItem);
  return content.length === 0 ? undefined : { format: 'chat', fields: { choices: { logprobs: { content } } } };
}

/**
 * Of the items for a whole response, those for its text. They come for thinking too, which is written first, while the
 * chat format has them for the text only.
 */
export function logprobsOfText(value: Json | undefined, text: string): readonly JsonObject[] {
  const items = objectsOf(value);
  let covered = 0;
  for (let at = items.length - 1; at >= 0; at--) {
    covered += textOf(items[at]?.['text'])?.length ?? 0;
    if (covered >= text.length) return items.slice(at);
  }
  return items;
}

function decodeItem(item: JsonObject): readonly JsonObject[] {
  const token = textOf(item['text']);
  const values = itemsOf(item['logprobs']).filter((value) => typeof value === 'number');
  if (token === undefined || values.length === 0) return [];
  const logprob = values.reduce((sum, value) => sum + value, 0);
  return [{ token, logprob, bytes: [...Buffer.from(token, 'utf8')], top_logprobs: [] }];
}
