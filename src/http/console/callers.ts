import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Authenticate } from '../../accounts/keys/authenticate.ts';
import type { ConsoleSession } from '../../accounts/console/sessions.ts';
import type { Principal } from '../../accounts/principal.ts';

/** A request that a session of the dashboard makes. */
export interface ConsoleCaller {
  readonly session: ConsoleSession;
  /** As which key the session generates. @throws GatewayError */
  readonly generatesAs: () => Promise<Principal>;
}

type Headers = Parameters<Authenticate>[0];

/**
 * The requests that came in through `/ui/api` with both secrets of a session, by their headers, which are one object as
 * long as the request. Nothing that a request sends can put it here: `/v1` never looks at a cookie. @spec console-9
 */
export interface ConsoleCallers {
  admit(headers: Headers, caller: ConsoleCaller): void;
  find(headers: Headers): ConsoleCaller | undefined;
  /** Knows the requests of sessions, and asks for a key for all others. */
  orKeys(authenticate: Authenticate): Authenticate;
  /** For routes that only sessions reach. */
  readonly generating: Authenticate;
}

export function createConsoleCallers(): ConsoleCallers {
  const callers = new WeakMap<Headers, ConsoleCaller>();
  return {
    admit: (headers, caller) => void callers.set(headers, caller),
    find: (headers) => callers.get(headers),
    orKeys: (authenticate) => (headers, options) =>
      callers.get(headers)?.session.principal ?? authenticate(headers, options),
    generating(headers) {
      const caller = callers.get(headers);
      if (caller === undefined) throw new Error('A route of the dashboard was reached without a session.');
      return caller.generatesAs();
    },
  };
}

/** On every answer below `/ui`, whatever writes it. */
const OWN_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const;

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * Makes an answer one that other origins cannot read: routes that also serve `/v1` allow every origin to. @spec console-8
 */
export function keepToOrigin(response: ServerResponse): void {
  const write = response.writeHead.bind(response);
  // Nothing here sends a reason of its own.
  response.writeHead = (status: number, reason?: string | Head, last?: Head): ServerResponse => {
    for (const name of response.getHeaderNames()) if (isCors(name)) response.removeHeader(name);
    for (const [name, value] of Object.entries(OWN_HEADERS)) response.setHeader(name, value);
    const headers = typeof reason === 'string' ? last : reason;
    return headers === undefined ? write(status) : write(status, withoutCors(headers));
  };
}

/** Headers as an object, or as names and values in turn. */
function withoutCors(headers: Head): Head {
  if (!Array.isArray(headers)) return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCors(name)));
  return headers.filter((_each, at) => !isCors(String(headers[at - (at % 2)])));
}

function isCors(name: string): boolean {
  return name.toLowerCase().startsWith('access-control-');
}
