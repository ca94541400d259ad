import type { PipelineStage } from '../canonical/route-report.ts';
import type { Considered, RoutePlan } from './route-plan.ts';

/** Entries of the stage: a caller reads a few, not hundreds. */
const ENTRIES_MAX = 100;

/** The effect of routing preferences, in the metadata's words; `undefined` when they excluded and moved nothing. */
export function serializeStage({ considered, ordering, sticky }: RoutePlan): PipelineStage | undefined {
  if (ordering === 'balanced' && sticky === undefined && considered.every(isPlain)) return undefined;
  const excluded = considered.filter(({ exclusion }) => exclusion !== undefined);
  const demoted = considered.filter(({ demotion }) => demotion !== undefined);
  const parts = [
    ...(excluded.length > 0 ? [`${excluded.length} of ${considered.length} endpoints left out`] : []),
    ...(demoted.length > 0 ? [`${demoted.length} tried last`] : []),
    ...(sticky !== undefined ? ['the session stays where it was'] : []),
    ...(ordering === 'balanced' ? [] : [ordering === 'order' ? 'in the requested order' : `sorted by ${ordering}`]),
  ];
  return {
    type: 'routing',
    name: 'provider-preferences',
    summary: parts.join('; '),
    data: {
      ordering,
      ...(sticky !== undefined && { sticky: true }),
      ...(excluded.length > 0 && { excluded: excluded.slice(0, ENTRIES_MAX).map(serializeExcluded) }),
      ...(demoted.length > 0 && {
        demoted: demoted.slice(0, ENTRIES_MAX).map(({ endpoint, demotion }) => ({
          provider: endpoint.providerName,
          model: endpoint.model,
          reason: demotion ?? '',
        })),
      }),
    },
  };
}

function isPlain({ exclusion, demotion }: Considered): boolean {
  return exclusion === undefined && demotion === undefined;
}

function serializeExcluded({ endpoint, exclusion, lacks }: Considered): Record<string, string> {
  return {
    provider: endpoint.providerName,
    model: endpoint.model,
    reason: exclusion ?? '',
    ...(lacks !== undefined && { lacks }),
  };
}
