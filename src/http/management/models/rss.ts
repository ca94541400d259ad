import type { Model } from '../../../catalog/model.ts';
import { createdOf, serializeModel } from './model-shape.ts';

export const RSS_TYPE = 'application/rss+xml; charset=utf-8';
const MS_PER_S = 1_000;

/** Serializes the models as an RSS 2.0 feed. */
export function serializeRss(models: readonly Model[], baseUrl: string): string {
  const items = models.map((model) => {
    const created = createdOf(model);
    const date = created === 0 ? '' : `<pubDate>${new Date(created * MS_PER_S).toUTCString()}</pubDate>`;
    return (
      `<item><title>${escaped(model.name)}</title><guid isPermaLink="false">${escaped(model.slug)}</guid>` +
      `<link>${escaped(`${baseUrl}/model/${model.slug}`)}</link>${date}` +
      `<description>${escaped(serializeModel(model).description)}</description></item>`
    );
  });
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>Models</title>' +
    `<link>${escaped(`${baseUrl}/models`)}</link><description>Models that this gateway serves</description>` +
    `${items.join('')}</channel></rss>\n`
  );
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
}
