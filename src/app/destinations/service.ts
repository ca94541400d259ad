import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Service } from '../../telemetry/destinations/contract.ts';
import { readVersion } from '../version.ts';

/** Of this process, in all that it sends. */
const INSTANCE_ID = randomUUID();

/** What destinations and collectors read of the sender. */
export function serviceOf({ observability, server }: Pick<Config, 'observability' | 'server'>): Service {
  const { serviceName, environment } = observability;
  return { name: serviceName, version: readVersion(), instanceId: INSTANCE_ID, region: server.region, environment };
}
