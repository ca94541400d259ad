// Draws docs/frontier.svg: what every model of the catalog that was tested costs and how well it writes code, and who of them
// nobody beats. `npm run frontier`
import { writeFileSync } from 'node:fs';
import { knownModels } from '../src/catalog/built-in.ts';
import type { Endpoint } from '../src/catalog/model.ts';
import { loadPriceLibrary } from '../src/catalog/price-library.ts';
import { readCatalogData, readScores } from '../src/catalog/read-data.ts';
import { codingScoresOf } from '../src/choosing/coding-scores.ts';
import { frontierOf } from '../src/choosing/frontier.ts';
import type { ParetoModel } from '../src/choosing/pareto.ts';
import { priceTableOf } from '../src/pipeline/model-field.ts';
import { drawFrontier } from './frontier-picture.ts';

const PICO_PER_TOKEN_OF_USD_PER_MILLION = 1e6;

/** The models that `service/pareto-code` would choose from, if every provider of the catalog could be asked. */
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
  drawFrontier({ field, frontier, date: now.toISOString().slice(0, 10) }),
);
console.log(`${field.length} models, ${frontier.length} on the frontier:`);
for (const { slug, price, score } of frontier) console.log(`${score.toFixed(3)}  ${price} USD  ${slug}`);
