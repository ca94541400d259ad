// Draws docs/frontier.svg: price and coding score of every tested model of the catalog, with the Pareto frontier. `npm
// run frontier`
import { writeFileSync } from 'node:fs';
import { knownModels } from '../src/catalog/built-in.ts';
import type { Endpoint } from '../src/catalog/model.ts';
import { loadPriceLibrary } from '../src/catalog/price-library.ts';
import { readCatalogData, readScores } from '../src/catalog/read-data.ts';
import { codingScoresOf } from '../src/model-selection/rank/coding-scores.ts';
import { frontierOf } from '../src/model-selection/rank/frontier.ts';
import type { ParetoModel } from '../src/model-selection/rank/pareto.ts';
import { priceTableOf } from '../src/pipeline/route/candidate-pool.ts';
import { formatFrontier } from './frontier-picture.ts';

const PICO_PER_TOKEN_OF_USD_PER_MILLION = 1e6;

/** The candidates of `service/pareto-code`, if every provider of the catalog were available. */
async function readField(nowMs: number): Promise<readonly ParetoModel[]> {
  const tested = Object.entries(readScores()).map(([slug, scores]) => ({ slug, scores }));
  const scores = codingScoresOf(tested);
  return knownModels(readCatalogData(), await loadPriceLibrary(nowMs)).flatMap(({ facts, endpoints }) => {
    const { slug } = facts;
    const served = endpoints.map(({ provider, upstreamModel, facts: own }): Endpoint => ({
      price: undefined,
      dataPolicy: {},
      ...own,
      model: slug,
      provider,
      providerName: provider,
      upstreamModel,
      formats: [],
      cancellable: true,
    }));
    const price = priceTableOf({ ...facts, endpoints: served });
    const score = scores.get(slug);
    if (price === undefined || score === undefined || price.prompt === 0) return [];
    return [{ slug, score, price: price.prompt / PICO_PER_TOKEN_OF_USD_PER_MILLION }];
  });
}

const now = new Date();
const field = await readField(now.getTime());
const frontier = frontierOf(field);
writeFileSync(
  new URL('../docs/frontier.svg', import.meta.url),
  formatFrontier({ field, frontier, date: now.toISOString().slice(0, 10) }),
);
console.log(`${field.length} models, ${frontier.length} on the frontier:`);
for (const { slug, price, score } of frontier) console.log(`${score.toFixed(3)}  ${price} USD  ${slug}`);
