import { GATEWAY_KEY, gatewayModel } from './gateway.ts';
import type { ClientFormatId } from '../src/canonical/extra.ts';
import type { Expectation } from './load/load-job.ts';
import type { MockFormat } from './servers/mock-formats.ts';
import { writeScript, type MockScript } from './servers/mock-script.ts';
import type { ServerProcess, WatchedGateway } from './processes.ts';
import { PORTKEY_VERSION, portkeyHeaders } from './portkey.ts';
import { writeRequest, type BodySize } from './requests.ts';

/** `chat<gemini`: a caller of the first format, an upstream of the second. */
export type PairId = `${ClientFormatId}<${MockFormat}`;
/** The gateway without accounts, and with them on each database. */
export type AccountsId = 'off' | 'embedded' | 'postgres';
/** The gateway without live views and with them, as one process and with two workers. */
export type ViewersId = 'unviewed' | 'viewed' | 'unviewed-2' | 'viewed-2';
export type VariantId =
  | 'direct'
  | 'json'
  | 'pipe'
  | 'chat'
  | 'messages'
  | 'translated'
  | 'portkey'
  | AccountsId
  | ViewersId
  | PairId;

/** The measured gateway, before what varies. */
export const GATEWAY_LABEL = '(c) gateway';

/** One way from the load generator to the mock upstream. */
export interface Variant {
  readonly id: VariantId;
  readonly label: string;
  /** What is measured; the mock itself when the way is direct. */
  readonly server: ServerProcess;
  readonly callerFormat: ClientFormatId;
  readonly upstreamFormat: MockFormat;
  readonly isGateway: boolean;
  /** Absent: the one that every gateway knows. */
  readonly key?: string;
  /** Further headers of its requests. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Reports its event-loop delay. */
  readonly watched?: WatchedGateway;
}

export interface Servers {
  readonly mock: ServerProcess;
  readonly json: ServerProcess;
  readonly pipe: ServerProcess;
  readonly gateway?: ServerProcess;
  /** Another gateway, portkey.ts. */
  readonly portkey?: ServerProcess;
}

export function listVariants(servers: Servers): readonly Variant[] {
  const chat = { callerFormat: 'chat', upstreamFormat: 'chat', isGateway: false } as const;
  const { gateway, portkey } = servers;
  return [
    { ...chat, id: 'direct', label: 'direct to the mock', server: servers.mock },
    { ...chat, id: 'json', label: '(a) thin proxy, JSON both ways', server: servers.json },
    { ...chat, id: 'pipe', label: '(b) thin proxy, bytes piped', server: servers.pipe },
    ...(gateway === undefined ? [] : listGatewayVariants(gateway)),
    ...(portkey === undefined
      ? []
      : [
          {
            ...chat,
            id: 'portkey' as const,
            label: `(d) Portkey ${PORTKEY_VERSION}`,
            server: portkey,
            headers: portkeyHeaders(servers.mock),
          },
        ]),
  ];
}

function listGatewayVariants(server: ServerProcess): readonly Variant[] {
  const common = { server, isGateway: true } as const;
  return [
    { ...common, id: 'chat', label: `${GATEWAY_LABEL}, chat`, callerFormat: 'chat', upstreamFormat: 'chat' },
    {
      ...common,
      id: 'messages',
      label: `${GATEWAY_LABEL}, messages`,
      callerFormat: 'messages',
      upstreamFormat: 'messages',
    },
    {
      ...common,
      id: 'translated',
      label: `${GATEWAY_LABEL}, chat to messages`,
      callerFormat: 'chat',
      upstreamFormat: 'messages',
    },
    ...listPairs(server),
  ];
}

const CALLERS: readonly ClientFormatId[] = ['chat', 'messages', 'responses'];
const UPSTREAMS: readonly MockFormat[] = ['chat', 'messages', 'gemini', 'converse', 'responses', 'cohere'];

export const PAIR_IDS: readonly PairId[] = CALLERS.flatMap((caller) =>
  UPSTREAMS.map((upstream): PairId => `${caller}<${upstream}`),
);

function listPairs(server: ServerProcess): readonly Variant[] {
  return CALLERS.flatMap((callerFormat) =>
    UPSTREAMS.map((upstreamFormat) => ({
      id: `${callerFormat}<${upstreamFormat}` as const,
      label:
        callerFormat === upstreamFormat ? `${callerFormat}, same format` : `${callerFormat} from ${upstreamFormat}`,
      server,
      callerFormat,
      upstreamFormat,
      isGateway: true,
    })),
  );
}

/** A request of a variant and the answer that the mock gives to it. */
export interface Call {
  readonly host: string;
  readonly port: number;
  readonly request: string;
  readonly script: MockScript;
  readonly isStream: boolean;
}

/** @param model one of the mock's model names, mock-script.ts */
export function prepareCall(variant: Variant, model: string, size: BodySize): Call {
  const { host, port } = variant.server;
  const script = writeScript(variant.upstreamFormat, model);
  if (script === undefined) throw new Error(`the mock has no model ${model}`);
  const isStream = model !== 'whole';
  const request = writeRequest({
    format: variant.callerFormat,
    host,
    port,
    key: variant.key ?? GATEWAY_KEY,
    model: variant.isGateway ? gatewayModel(variant.upstreamFormat, model) : model,
    size,
    streams: isStream,
    headers: variant.headers ?? {},
  });
  return { host, port, request, script, isStream };
}

/** What each measured answer must show; `frames` comes from the answer that was checked in full. */
export function expectAnswer(variant: Variant, call: Call, frames: number): Expectation {
  if (!call.isStream) return { kind: 'whole', marker: call.script.text.slice(0, 40), frames: 0 };
  return {
    kind: 'stream',
    marker: variant.callerFormat === 'messages' ? '"message_stop"' : 'data: [DONE]\n\n',
    frames,
  };
}
