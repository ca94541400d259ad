import { VaultError } from '../../canonical/vault-reference.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { DestinationType, OpenDestination, OutboundCall, Service } from './contract.ts';
import { createRedact, partsOfHeader } from './delivery/redact.ts';
import type { Poster } from './post.ts';

export interface ConnectionDeps {
  readonly service: Service;
  readonly poster: Pick<Poster, 'post' | 'faultOf'>;
  /** Addresses may be of the operator's own network: what they answer is not shown. */
  readonly hidesAnswers: boolean;
  /** @throws GatewayError 400 with the path of what is wrong, below `config` */
  readonly checkConfig: (schema: DestinationType['schema'], config: JsonObject) => void;
  readonly clock: Clock;
  /** Fills secrets of the vault into a configuration. @throws VaultError */
  readonly fill: FillConfig;
}

/** @param workspaceId whose secrets they are */
export type FillConfig = (type: DestinationType, config: JsonObject, workspaceId: string) => Promise<JsonObject>;

/** Of all calls of a test. */
const TEST_MS_MAX = 10_000;
/** Of calls: what they say is no secret. */
const PUBLIC_HEADERS: ReadonlySet<string> = new Set(['content-type', 'x-test-connection', 'user-agent', 'accept']);
const HEADER_CHARS_MIN = 6;
const EMPTY = new Uint8Array();

/** @throws GatewayError 400 with the path of what is wrong */
export function openChecked(
  { poster, checkConfig, service }: ConnectionDeps,
  type: DestinationType,
  config: JsonObject,
): OpenDestination {
  checkConfig(type.schema, config);
  const open = type.open(config, service);
  const fault = poster.faultOf(open.url);
  if (fault !== undefined) throw invalid('config', fault);
  return open;
}

/** @throws GatewayError 400 that says what to change */
export async function callOrRefuse(
  deps: ConnectionDeps,
  type: DestinationType,
  stored: JsonObject,
  workspaceId: string,
): Promise<void> {
  const { poster, clock } = deps;
  openChecked(deps, type, stored);
  const config = await filledOrRefuse(deps, type, stored, workspaceId);
  const open = openChecked(deps, type, config);
  const redact = redactOf(deps, type, config);
  const signal = AbortSignal.timeout(TEST_MS_MAX);
  for (const { call, judge } of await open.test(clock.nowMs())) {
    const outcome = await poster.post(call, { signal });
    if (outcome.status === undefined) throw invalid('config', `the test call failed: ${outcome.reason}`);
    const fault = judge(deps.hidesAnswers ? { ...outcome, text: '', bytes: EMPTY } : outcome);
    if (fault !== undefined) throw invalid('config', redact(fault, call));
  }
}

/** @throws GatewayError 400 for a secret of the vault that is not released */
async function filledOrRefuse(
  { fill }: ConnectionDeps,
  type: DestinationType,
  config: JsonObject,
  workspaceId: string,
): Promise<JsonObject> {
  try {
    return await fill(type, config, workspaceId);
  } catch (error) {
    if (error instanceof VaultError) throw invalid('config', error.message);
    throw error;
  }
}

/** Answers may repeat what was sent; those of a private network are not shown. */
export function redactOf(
  { hidesAnswers }: Pick<ConnectionDeps, 'hidesAnswers'>,
  { secrets }: DestinationType,
  config: JsonObject,
) {
  const redact = createRedact(config, secrets);
  return (text: string, { headers }: OutboundCall): string => {
    const shown = hidesAnswers ? text.replace(/^(Status \d+): .*/s, '$1.') : text;
    const sent = Object.entries(headers)
      .filter(([name, value]) => !PUBLIC_HEADERS.has(name) && value.length >= HEADER_CHARS_MIN)
      .flatMap(([, value]) => partsOfHeader(value))
      .toSorted((one, other) => other.length - one.length);
    return redact(sent.reduce((left, part) => left.replaceAll(part, '***'), shown));
  };
}
