import type { ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';

export type Summary = Schemas['EvaluationSummary'];
export type Comparison = Schemas['EvaluationComparison'];

const PERCENT = 100;
const CELL = 'px-2 py-1 text-left align-top';

function formatShare(share: number): string {
  return `${(share * PERCENT).toFixed(1)} %`;
}

/** In points of a hundred, with its sign. */
function formatPoints(share: number): string {
  const points = (share * PERCENT).toFixed(1);
  return share > 0 ? `+${points}` : points;
}

/** What a run says of each model. Of few items the interval comes before the mean: the mean alone would mislead. */
export function Results({ of }: { readonly of: readonly Summary[] }): ReactElement {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Results">
      <table className="w-full">
        <thead>
          <tr className="text-xs text-dim">
            {['Model', 'Score', 'Items', 'Per item', 'Median'].map((title) => (
              <th key={title} scope="col" className={`${CELL} font-medium`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((summary) => (
            <tr key={summary.model} className="border-t border-line">
              <th scope="row" className={`${CELL} font-medium`}>
                <Name>{summary.model}</Name>
                {summary.judged_itself && <Badge tone="warn">judged itself</Badge>}
              </th>
              <td className={CELL}>
                <Score of={summary} />
              </td>
              <td className={CELL}>
                {formatCount(summary.items)}
                <Unscored of={summary} />
              </td>
              <td className={CELL}>{formatUsd(summary.cost_per_item_usd)}</td>
              <td className={CELL}>
                {summary.latency_ms === null ? '–' : `${formatCount(summary.latency_ms.p50)} ms`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Score({ of: { mean, interval, small_sample: isSmall } }: { readonly of: Summary }): ReactElement {
  if (mean === null) return <span className="text-dim">none yet</span>;
  const range =
    interval === null ? 'too little to say' : `${formatShare(interval.low)} to ${formatShare(interval.high)}`;
  return isSmall ? (
    <>
      <span className="font-semibold">{range}</span>
      <span className="block text-xs text-dim">mean {formatShare(mean)} of few items</span>
    </>
  ) : (
    <>
      <span className="font-semibold">{formatShare(mean)}</span>
      <span className="block text-xs text-dim">{range}</span>
    </>
  );
}

/** What has no score, or a score of 0 for its form. */
const NOTED = {
  upstream_error: 'failed upstream',
  unjudged: 'unjudged',
  refused: 'refused',
  length: 'cut off',
  invalid: 'without form',
} as const;

function Unscored({ of: { verdicts } }: { readonly of: Summary }): ReactElement | undefined {
  const counts = new Map(Object.entries(verdicts));
  const noted = Object.entries(NOTED).flatMap(([verdict, words]) => {
    const count = counts.get(verdict) ?? 0;
    return count > 0 ? [`${formatCount(count)} ${words}`] : [];
  });
  return noted.length === 0 ? undefined : <span className="block text-xs text-dim">{noted.join(', ')}</span>;
}

const VERDICT_TONES: Readonly<Record<Comparison['verdict'], Tone>> = {
  better: 'good',
  worse: 'bad',
  'no difference shown': 'dim',
};

export function Comparisons({ of }: { readonly of: readonly Comparison[] }): ReactElement {
  return (
    <ul className="flex flex-col gap-3">
      {of.map((one) => (
        <li key={`${one.a.model} ${one.b.model}`}>
          <p>
            <Name>{one.b.model}</Name> against <Name>{one.a.model}</Name>{' '}
            <Badge tone={VERDICT_TONES[one.verdict]}>{one.verdict}</Badge>
          </p>
          <p className="text-xs text-dim">
            {one.difference === null
              ? 'They share no item.'
              : `${formatPoints(one.difference)} points${one.interval === null ? '' : ` (${formatPoints(one.interval.low)} to ${formatPoints(one.interval.high)})`}, p ${one.p.toFixed(4)}, ${formatCount(one.items)} items: ${one.gained} gained, ${one.lost} lost`}
          </p>
        </li>
      ))}
    </ul>
  );
}
