import { invalid } from '../canonical/gateway-error.ts';
import type { RunRow } from '../store/evaluations/columns.ts';
import type { EvaluationDeps } from './deps.ts';
import { nameOf } from './model-name.ts';
import { noSuch } from './refusals.ts';
import { resultsOf } from './evaluation-runs.ts';
import { compare, type Comparison } from './statistics/compare.ts';

/** One side: a run, or one model of it. */
export interface Side {
  readonly runId: string;
  /** The place of the model; absent: each in turn. */
  readonly model?: number | undefined;
}

/** Two models, and how the second stands to the first. */
export interface ModelComparison extends Comparison {
  readonly a: { readonly run: string; readonly model: string };
  readonly b: { readonly run: string; readonly model: string };
}

export interface ComparedSides {
  readonly comparisons: readonly ModelComparison[];
  /** Compared all the same. */
  readonly differs: readonly ('dataset' | 'judge')[];
}

/**
 * Compares models of two runs, or of one: models of the same name, or those that are named.
 * @throws GatewayError 400 for runs that do not compare, 404
 */
export async function compareSides(
  { runs, turns }: Pick<EvaluationDeps, 'runs' | 'turns'>,
  sides: { readonly a: Side; readonly b: Side },
  force: boolean,
): Promise<ComparedSides> {
  const [a, b] = await Promise.all([runs.find(sides.a.runId), runs.find(sides.b.runId)]);
  if (a === undefined || b === undefined) throw noSuch('run');
  const differs = differencesOf(a, b);
  if (differs.length > 0 && !force)
    throw invalid(
      'b',
      `not_comparable: the runs differ in their ${differs.join(' and ')}; add force=true to compare them`,
    );
  const pairs = pairsOf(a, b, sides);
  if (pairs.length === 0) throw invalid('b', 'has no model of the same name as a: name one model of each side');
  const [ofA, ofB] = await Promise.all([runs.results(a.id), a.id === b.id ? runs.results(a.id) : runs.results(b.id)]);
  const found = await compare(
    pairs.map(([left, right]) => ({ a: resultsOf(ofA, left), b: resultsOf(ofB, right) })),
    a.settings.seed,
    turns,
  );
  const comparisons = found.flatMap((one, at) => {
    const [left = 0, right = 0] = pairs[at] ?? [];
    return { ...one, a: { run: a.id, model: nameOf(a, left) }, b: { run: b.id, model: nameOf(b, right) } };
  });
  return { comparisons, differs };
}

function differencesOf(a: RunRow, b: RunRow): ComparedSides['differs'] {
  const judgeOf = ({ settings: { judge } }: RunRow): string => JSON.stringify(judge);
  return [
    ...(a.datasetSha256 === b.datasetSha256 ? [] : (['dataset'] as const)),
    ...(judgeOf(a) === judgeOf(b) ? [] : (['judge'] as const)),
  ];
}

function pairsOf(
  a: RunRow,
  b: RunRow,
  sides: { readonly a: Side; readonly b: Side },
): readonly (readonly [number, number])[] {
  const placesOf = (run: RunRow, { model }: Side): readonly number[] =>
    model === undefined
      ? run.settings.models.map((_, at) => at)
      : run.settings.models[model] === undefined
        ? []
        : [model];
  const [ofA, ofB] = [placesOf(a, sides.a), placesOf(b, sides.b)];
  // Of one run each model with those after it.
  if (a.id === b.id && ofA.length > 1 && ofB.length > 1)
    return ofA.flatMap((left) => ofB.filter((right) => right > left).map((right) => [left, right] as const));
  if (ofA.length === 1 || ofB.length === 1)
    return ofA
      .flatMap((left) => ofB.map((right) => [left, right] as const))
      .filter(([x, y]) => a.id !== b.id || x !== y);
  return ofA.flatMap((left) =>
    ofB.filter((right) => nameOf(a, left) === nameOf(b, right)).map((right) => [left, right] as const),
  );
}
