import type { Catalog, Model } from '../../catalog/model.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import type { WatchDeps } from './watch-health.ts';

const USED_MS = 2_592_000_000;
const MS_PER_DAY = 86_400_000;

interface Seen {
  readonly name: string;
  readonly prices: string;
}

/**
 * Reports what becomes of models that were used in the last 30 days: an announced end, an end, another price.
 * @param usedSince the slugs that requests had since a time
 */
export function createModelWatch(
  catalog: Pick<Catalog, 'list'>,
  usedSince: (sinceMs: number) => Promise<ReadonlySet<string>>,
  { raise }: Pick<WatchDeps, 'raise'>,
  nowMs: () => number,
): () => Promise<void> {
  let before: ReadonlyMap<string, Seen> | undefined;
  return async () => {
    const models = catalog.list();
    const now = new Map(models.map((model) => [model.slug, { name: model.name, prices: pricesOf(model) }]));
    const was = before;
    before = now;
    const used = await usedSince(nowMs() - USED_MS);
    const today = new Date(nowMs()).toISOString().slice(0, 10);
    for (const { slug, expirationDate } of models)
      if (expirationDate !== undefined && used.has(slug)) await raise(ending(slug, expirationDate, today));
    if (was === undefined) return;
    for (const [slug, { prices }] of was) {
      if (!used.has(slug)) continue;
      const next = now.get(slug);
      if (next === undefined) await raise(gone(slug, today));
      else if (next.prices !== prices) await raise(changed(slug, today));
    }
  };
}

/** As far as requests may be charged by them. */
function pricesOf({ endpoints }: Model): string {
  return JSON.stringify(endpoints.map(({ provider, upstreamModel, price }) => [provider, upstreamModel, price]));
}

function ending(slug: string, date: string, today: string): NewEvent {
  if (date <= today) return gone(slug, date);
  const days = Math.round((Date.parse(date) - Date.parse(today)) / MS_PER_DAY);
  return {
    type: 'model.deprecated',
    severity: 'info',
    subject: `model:${slug}`,
    title: `${slug} ends on ${date}`,
    text: `Its author ends it in ${days} ${days === 1 ? 'day' : 'days'}. It was used in the last 30 days: name another model in its place.`,
    facts: { model: slug, date },
    link: `/ui/models/${slug}`,
    mark: `model.deprecated ${slug} ${date}`,
  };
}

function gone(slug: string, date: string): NewEvent {
  return {
    type: 'model.gone',
    severity: 'warning',
    subject: `model:${slug}`,
    title: `${slug} is gone`,
    text: 'It was used in the last 30 days, and no endpoint serves it any more. Name another model in its place.',
    facts: { model: slug, date },
    link: '/ui/models',
    mark: `model.gone ${slug} ${date}`,
  };
}

function changed(slug: string, date: string): NewEvent {
  return {
    type: 'price.changed',
    severity: 'info',
    subject: `model:${slug}`,
    title: `The price of ${slug} has changed`,
    text: 'It was used in the last 30 days. The page of the model has the prices of its endpoints.',
    facts: { model: slug, date },
    link: `/ui/models/${slug}`,
    mark: `price.changed ${slug} ${date}`,
  };
}
