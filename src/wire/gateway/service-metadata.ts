import type { PipelineStage, RouteReport } from '../../canonical/route-report.ts';
import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';

/**
 * `service_metadata` of responses and errors. Encoded when the generation has ended; before that it has no `generation_time`.
 * @param region where this gateway runs, as the operator names it
 * @spec metadata-3
 */
export function encodeServiceMetadata(report: RouteReport, region: string): JsonObject {
  const { available, selected, attempts, pipeline, endedMs } = report;
  const server = selected === undefined ? undefined : available[selected];
  return {
    requested: report.requested,
    strategy: report.strategy,
    region,
    summary: `available=${available.length}${server === undefined ? '' : `, selected=${server.provider}`}`,
    attempt: report.attempt,
    is_byok: report.isByok,
    endpoints: {
      total: report.total,
      available: available.map(({ provider, model }, index) => ({ provider, model, selected: index === selected })),
    },
    ...(attempts.length > 0 && {
      attempts: attempts.map(({ provider, model, status, credential }) => ({
        provider,
        model,
        status,
        ...(credential !== undefined && { credential }),
      })),
    }),
    ...(Object.keys(report.params).length > 0 && { params: { ...report.params } }),
    ...(pipeline.length > 0 && { pipeline: pipeline.map(encodeStage) }),
    ...(endedMs !== undefined && { generation_time: Math.max(0, Math.round(endedMs - report.arrivedMs)) }),
  };
}

function encodeStage(stage: PipelineStage): JsonObject {
  const { type, name, summary, guardrailId, guardrailScope, data, costNanoUsd } = stage;
  return {
    type,
    name,
    ...(summary !== undefined && { summary }),
    ...(guardrailId !== undefined && { guardrail_id: guardrailId }),
    ...(guardrailScope !== undefined && { guardrail_scope: guardrailScope }),
    ...(data !== undefined && { data }),
    ...(costNanoUsd !== undefined && { cost_usd: usdFromNano(costNanoUsd) }),
  };
}
