import type { Journal } from '../../journal/journal.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { ProcessFigures } from '../../telemetry/process-figures.ts';

export async function readFigures({
  metrics,
  journal,
}: {
  readonly metrics: Pick<Metrics, 'figures'>;
  readonly journal: Pick<Journal, 'status'>;
}): Promise<ProcessFigures> {
  const { bytes, unwritten, unapplied, behindMs } = journal.status();
  return { ...(await metrics.figures()), journal: { bytes, unwritten, unapplied, behindMs } };
}
