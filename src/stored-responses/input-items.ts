import { invalid } from '../canonical/gateway-error.ts';
import type { JsonObject } from '../lib/json.ts';
import { withoutSecrets } from '../wire/responses/request/echo.ts';
import { idOf, objectsOf } from './items.ts';

export interface ItemsWindow {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Only items behind the one with this id, in that order. */
  readonly after: string | undefined;
  /** Whether images that stand in the items are shown. */
  readonly showsImages: boolean;
}

/** A data URL up to this length is shown in any case. */
const SHOWN_URL_CHARS = 1_024;

/**
 * One page of a list of items, as the list of the format.
 * @throws GatewayError 400 at `after` for an item that is not in the list
 */
export function pageOf(items: readonly JsonObject[], { limit, order, after, showsImages }: ItemsWindow): JsonObject {
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex((item) => idOf(item) === after) + 1;
  if (after !== undefined && start === 0) throw invalid('after', 'names no item of this response');
  const page = ordered.slice(start, start + limit).map(withoutSecretsOfTools);
  return {
    object: 'list',
    data: showsImages ? page : page.map(withoutImages),
    first_id: page[0]?.['id'] ?? null,
    last_id: page.at(-1)?.['id'] ?? null,
    has_more: start + limit < ordered.length,
  };
}

/** Every key of a workspace may read the list, where responses are shared. */
function withoutSecretsOfTools(item: JsonObject): JsonObject {
  const { tools } = item;
  return Array.isArray(tools) ? { ...item, tools: tools.map(withoutSecrets) } : item;
}

function withoutImages(item: JsonObject): JsonObject {
  const changed: Record<string, JsonObject[]> = {};
  for (const member of ['content', 'output'])
    if (Array.isArray(item[member]))
      changed[member] = objectsOf(item[member]).map((part) =>
        isLargeImage(part) ? { ...part, image_url: null } : part,
      );
  return { ...item, ...changed };
}

function isLargeImage({ type, image_url: url }: JsonObject): boolean {
  return type === 'input_image' && typeof url === 'string' && url.startsWith('data:') && url.length > SHOWN_URL_CHARS;
}
