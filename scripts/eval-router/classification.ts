import { classifyTask, type TaskClass } from '../../src/model-selection/classify/classify-task.ts';
import { groupOf, TASK_TAGS } from '../../src/model-selection/classify/task-tags.ts';
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
  readonly stated: TaskClass;
}

export function classifyItems(items: readonly Item[]): readonly Classified[] {
  return items.map((item) => ({ item, stated: classifyTask(decodeItem(item)) }));
}

const CONFUSIONS_SHOWN = 10;

/** @param learnt what baselines may know: the tuning part */
export function formatClassification(classified: readonly Classified[], learnt: readonly Item[]): string {
  const judged = judge(classified);
  return [
    formatOverall(classified, judged),
    formatBaselines(classified, learnt),
    formatAgreement(classified.map(({ item }) => item)),
    formatTags(judged),
    formatSlices(classified),
    formatConfusions(judged),
  ].join('\n\n');
}

function judge(classified: readonly Classified[]): readonly Judged[] {
  return classified.map(({ item, stated }) => ({ truth: item.tag, stated: stated.tag }));
}

function formatOverall(classified: readonly Classified[], judged: readonly Judged[]): string {
  const inGroups = classified.map(({ item, stated }) => ({ truth: groupOf(item.tag), stated: groupOf(stated.tag) }));
  const eitherWay = classified.map(({ item, stated }) => ({
    truth: stated.tag === item.second ? stated.tag : item.tag,
    stated: stated.tag,
  }));
  const amongThree = classified.map(({ item, stated }) => {
    const best = [stated.tag, ...stated.scores.map(({ tag }) => tag)];
    return { truth: item.tag, stated: best.includes(item.tag) ? item.tag : stated.tag };
  });
  return [
    `accuracy                 ${formatShare(judged)}`,
    `macro-F1                 ${formatMacroF1(judged)}`,
    `group accuracy           ${formatShare(inGroups)}   (code, agent, data, general)`,
    `either label accepted    ${formatShare(eitherWay)}`,
    `among its best three     ${formatShare(amongThree)}`,
  ].join('\n');
}

function formatBaselines(classified: readonly Classified[], learnt: readonly Item[]): string {
  const most = majority(learnt.map(({ tag }) => tag));
  const known = learnt.map((item) => ({ id: item.id, label: item.tag, length: textOf(item).length }));
  const byMajority = classified.map(({ item }) => ({ truth: item.tag, stated: most }));
  const byLength = classified.map(({ item }) => ({
    truth: item.tag,
    stated: nearestByLength(known, { id: item.id, length: textOf(item).length }),
  }));
  return [
    'Baselines, of the tuning part:',
    ...[
      { name: `always ${most}`, judged: byMajority },
      { name: 'nearest in length', judged: byLength },
    ].map(
      ({ name, judged }) =>
        `${name.padEnd(24)} ${formatShare(judged)}, macro-F1 ${percent(macroF1(scoreTags(judged, TASK_TAGS)))}`,
    ),
  ].join('\n');
}

/** Agreement of the labels themselves: no classifier can be better. */
function formatAgreement(items: readonly Item[]): string {
  const pairs = items.flatMap(({ tag, second }) => (second === null ? [] : [[tag, second] as const]));
  const differ = pairs.filter(([one, other]) => one !== other).length;
  return `Labels: ${pairs.length} of ${items.length} labelled twice, ${differ} differ, Cohen's kappa ${kappa(pairs).toFixed(3)}.`;
}

function formatTags(judged: readonly Judged[]): string {
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
function formatSlices(classified: readonly Classified[]): string {
  const slices: readonly (readonly [string, (one: Classified) => boolean])[] = [
    ['English', ({ item }) => item.lang === 'en'],
    ['other languages', ({ item }) => item.lang !== 'en'],
    ['with tool results', ({ item }) => item.request.messages.some(({ role }) => role === 'tool')],
    ['without tool results', ({ item }) => item.request.messages.every(({ role }) => role !== 'tool')],
    ['by structure', ({ stated }) => stated.source === 'structure'],
    ['by rules', ({ stated }) => stated.source === 'rules'],
    ['by default', ({ stated }) => stated.source === 'default'],
  ];
  return [
    'Accuracy of:',
    ...slices.map(([name, keeps]) => `${name.padEnd(24)} ${formatShare(judge(classified.filter(keeps)))}`),
  ].join('\n');
}

function formatConfusions(judged: readonly Judged[]): string {
  return [
    'Most frequent mistakes:',
    ...confusions(judged, CONFUSIONS_SHOWN).map(
      ({ truth, stated, count }) => `${String(count).padStart(3)}  ${truth} taken for ${stated}`,
    ),
  ].join('\n');
}

function formatMacroF1(judged: readonly Judged[]): string {
  const of = (formatted: readonly Judged[]): number => macroF1(scoreTags(formatted, TASK_TAGS));
  const { from, to } = bootstrap(judged, of);
  return `${percent(of(judged))} (95 % by bootstrap: ${percent(from)} to ${percent(to)})`;
}

function formatShare(judged: readonly Judged[]): string {
  const hits = judged.filter(({ truth, stated }) => truth === stated).length;
  const { from, to } = wilson(hits, judged.length);
  return `${percent(accuracy(judged))} (${hits} of ${judged.length}, 95 %: ${percent(from)} to ${percent(to)})`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
