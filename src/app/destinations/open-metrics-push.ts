import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HttpClient } from '../../lib/net/http-client.ts';
import { withPath } from '../../telemetry/destinations/otlp/otlp-destination.ts';
import type { Log } from '../../telemetry/logs.ts';
import { createMetricsPush, type MetricsPush } from '../../telemetry/metrics/metrics-push.ts';
import { serviceOf } from './service.ts';

export interface MetricsPushParts {
  readonly config: Pick<Config, 'observability' | 'server'>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
}

/** `undefined`: the operator named no collector. Each process sends its own, under an id of its own. */
export function openMetricsPush({ config, http, clock, log }: MetricsPushParts): MetricsPush | undefined {
  const { metricsPush } = config.observability;
  if (metricsPush === undefined) return undefined;
  const { endpoint, ...settings } = metricsPush;
  return createMetricsPush({
    ...settings,
    http,
    clock,
    url: withPath(endpoint, '/v1/metrics'),
    service: serviceOf(config),
    onFailed: (reason) => log.general.warn({ reason }, 'metrics could not be sent: tried again later'),
    onMended: () => log.general.info('metrics are sent again'),
  });
}
