import { classifyTask, type TaskClass } from '../../src/choosing/classify-task.ts';
import { groupOf, TASK_TAGS } from '../../src/choosing/task-tags.ts';
import { decodeItem, textOf, type Item } from './items.ts';
import {
  accuracy,
  bootstrap,
  confusions,
  kappa,
  macroF1,
  majority,
  nearestByLength,
  scoreTags,
  wilson,
  type Judged,
} from './statistics.ts';

export interface Classified {
  readonly item: Item;
  readonly said: TaskClass;
}

export function classifyItems(items: readonly Item[]): readonly Classified[] {
  return items.map((item) => ({ item, said: classifyTask(decodeItem(item)) }));
}

const CONFUSIONS_SHOWN = 10;

/** @param learnt what baselines may know: the tuning part */
export function drawClassification(classified: readonly Classified[], learnt: readonly Item[]): string {
  const judged = judge(classified);
  return [
    drawOverall(classified, judged),
    drawBaselines(classified, learnt),
    drawAgreement(classified.map(({ item }) => item)),
    drawTags(judged),
    drawSlices(classified),
    drawConfusions(judged),
  ].join('\n\n');
}

function judge(classified: readonly Classified[]): readonly Judged[] {
  return classified.map(({ item, said }) => ({ truth: item.tag, said: said.tag }));
}

function drawOverall(classified: readonly Classified[], judged: readonly Judged[]): string {
  const inGroups = classified.map(({ item, said }) => ({ truth: groupOf(item.tag), said: groupOf(said.tag) }));
  const eitherWay = classified.map(({ item, said }) => ({
    truth: said.tag === item.second ? said.tag : item.tag,
    said: said.tag,
  }));
  const amongThree = classified.map(({ item, said }) => {
    const best = [said.tag, ...said.scores.map(({ tag }) => tag)];
    return { truth: item.tag, said: best.includes(item.tag) ? item.tag : said.tag };
  });
  return [
    `accuracy                 ${drawShare(judged)}`,
    `macro-F1                 ${drawMacroF1(judged)}`,
    `group accuracy           ${drawShare(inGroups)}   (code, agent, data, general)`,
    `either label accepted    ${drawShare(eitherWay)}`,
    `among its best three     ${drawShare(amongThree)}`,
  ].join('\n');
}

function drawBaselines(classified: readonly Classified[], learnt: readonly Item[]): string {
  const most = majority(learnt.map(({ tag }) => tag));
  const known = learnt.map((item) => ({ id: item.id, label: item.tag, length: textOf(item).length }));
  const byMajority = classified.map(({ item }) => ({ truth: item.tag, said: most }));
  const byLength = classified.map(({ item }) => ({
    truth: item.tag,
    said: nearestByLength(known, { id: item.id, length: textOf(item).length }),
  }));
  return [
    'Baselines, of the tuning part:',
    ...[
      { name: `always ${most}`, judged: byMajority },
      { name: 'nearest in length', judged: byLength },
    ].map(
      ({ name, judged }) =>
        `${name.padEnd(24)} ${drawShare(judged)}, macro-F1 ${percent(macroF1(scoreTags(judged, TASK_TAGS)))}`,
    ),
  ].join('\n');
}

/** Of the labels themselves: nobody can be more right than they are. */
function drawAgreement(items: readonly Item[]): string {
  const pairs = items.flatMap(({ tag, second }) => (second === null ? [] : [[tag, second] as const]));
  const differ = pairs.filter(([one, other]) => one !== other).length;
  return `Labels: ${pairs.length} of ${items.length} labelled twice, ${differ} differ, Cohen's kappa ${kappa(pairs).toFixed(3)}.`;
}

function drawTags(judged: readonly Judged[]): string {
  const rows = scoreTags(judged, TASK_TAGS).map(({ tag, count, hits, precision, recall, f1 }) => {
    const { from, to } = wilson(hits, count);
    const figures = [precision.toFixed(2).padStart(11), recall.toFixed(2).padStart(9), f1.toFixed(2).padStart(9)].join(
      '',
    );
    return `${tag.padEnd(26)}${String(count).padStart(4)}${figures}    ${from.toFixed(2)} to ${to.toFixed(2)}`;
  });
  const head = `${'tag'.padEnd(26)}${'n'.padStart(4)}${'precision'.padStart(11)}${'recall'.padStart(9)}${'F1'.padStart(9)}    95 % interval of the recall`;
  return [head, ...rows].join('\n');
}

/** Where it does better and where worse. */
function drawSlices(classified: readonly Classified[]): string {
  const slices: readonly (readonly [string, (one: Classified) => boolean])[] = [
    ['English', ({ item }) => item.lang === 'en'],
    ['other languages', ({ item }) => item.lang !== 'en'],
    ['with tool results', ({ item }) => item.request.messages.some(({ role }) => role === 'tool')],
    ['without tool results', ({ item }) => item.request.messages.every(({ role }) => role !== 'tool')],
    ['told by structure', ({ said }) => said.source === 'structure'],
    ['told by rules', ({ said }) => said.source === 'rules'],
    ['told by default', ({ said }) => said.source === 'default'],
  ];
  return [
    'Accuracy of:',
    ...slices.map(([name, keeps]) => `${name.padEnd(24)} ${drawShare(judge(classified.filter(keeps)))}`),
  ].join('\n');
}

function drawConfusions(judged: readonly Judged[]): string {
  return [
    'Most frequent mistakes:',
    ...confusions(judged, CONFUSIONS_SHOWN).map(
      ({ truth, said, count }) => `${String(count).padStart(3)}  ${truth} taken for ${said}`,
    ),
  ].join('\n');
}

function drawMacroF1(judged: readonly Judged[]): string {
  const of = (drawn: readonly Judged[]): number => macroF1(scoreTags(drawn, TASK_TAGS));
  const { from, to } = bootstrap(judged, of);
  return `${percent(of(judged))} (95 % by bootstrap: ${percent(from)} to ${percent(to)})`;
}

function drawShare(judged: readonly Judged[]): string {
  const hits = judged.filter(({ truth, said }) => truth === said).length;
  const { from, to } = wilson(hits, judged.length);
  return `${percent(accuracy(judged))} (${hits} of ${judged.length}, 95 %: ${percent(from)} to ${percent(to)})`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
