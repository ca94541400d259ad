import { findCatalogFaults } from '../src/catalog/find-faults.ts';
import { readCatalogData, type CatalogData } from '../src/catalog/read-data.ts';
import { ADAPTER_IDS, KNOWN_PROVIDER_IDS } from '../src/providers/index.ts';

/** Providers without a file of facts are listed with their name alone. */
function unlisted({ providers }: CatalogData): readonly string[] {
  const known = new Set(providers.map(({ slug }) => slug));
  return KNOWN_PROVIDER_IDS.filter((id) => !known.has(id));
}

const faults = await findCatalogFaults(Date.now(), ADAPTER_IDS);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
const data = readCatalogData();
const models = data.authors.flatMap((author) => author.models);
const endpoints = models.flatMap((model) => model.endpoints);
const priced = endpoints.filter((endpoint) => endpoint.price !== undefined || endpoint.price_ref !== undefined);
const unchecked = models.filter(({ checked }) => checked === null);
console.log(
  `${data.authors.length} authors, ${models.length} models, ${data.providers.length} providers, ${endpoints.length} endpoints, ` +
    `${priced.length} with a price (${endpoints.filter((endpoint) => endpoint.price_ref !== undefined).length} by reference), ` +
    `${Object.values(data.scores).flat().length} scores. ${unchecked.length} models wait for a person to check them. ` +
    `Known providers without a file: ${unlisted(data).join(', ')}.`,
);
