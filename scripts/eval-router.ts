import { parseArgs } from 'node:util';
import { classifyItems, formatClassification } from './eval-router/classification.ts';
import { PARTS, readItems } from './eval-router/items.ts';
import { openWorld } from './eval-router/model-world.ts';
import { formatRegret } from './eval-router/regret.ts';

const { values } = parseArgs({
  options: { part: { type: 'string', default: 'tuning' }, mistakes: { type: 'boolean', default: false } },
});

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

const part =
  PARTS.find((name) => name === values.part) ??
  refuse(`--part: ${JSON.stringify(values.part)} is none of ${PARTS.join(', ')}`);
// Reading single mistakes is tuning, and requests that were used for tuning measure nothing any more.
if (values.mistakes && part === 'test') refuse('--mistakes: only of the tuning part');
const items = readItems(part);
const classified = classifyItems(items);
console.log(`The ${part} part of eval/router: ${items.length} requests.\n`);
console.log(formatClassification(classified, readItems('tuning')));
console.log(`\n${formatRegret(classified, await openWorld(Date.now()))}`);
if (values.mistakes) {
  console.log('\nEvery mistake:');
  for (const { item, stated } of classified)
    if (stated.tag !== item.tag) console.log(`${item.id}  ${item.tag}  taken for ${stated.tag} (${stated.source})`);
}
