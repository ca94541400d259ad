import type { Schemas } from '../../api/client.ts';
import type { Token } from './columns.tsx';

export interface Finding {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly text: string;
  /** What to do about it. */
  readonly hint?: string;
}

const DAY_MS = 86_400_000;
const SILENT_DAYS = 7;
const ENDS_SOON_DAYS = 30;
const LOOPBACK = /^(?:localhost|127\.|\[::1\])/;

export interface Provisioned {
  readonly status: Schemas['ScimStatus'];
  readonly tokens: readonly Token[];
  /** As the provider is to call it. */
  readonly baseUrl: string;
  readonly nowMs: number;
}

/** Whether users and groups arrive, and every reason why they may not. */
export function findingsOf({ status, tokens, baseUrl, nowMs }: Provisioned): readonly Finding[] {
  const found = [...findOfAddress(status, baseUrl), ...findOfTokens(tokens, nowMs), ...findOfPushes(status, nowMs)];
  if (found.some(({ tone }) => tone !== 'good') || status.last_request === null) return found;
  return [{ tone: 'good', text: 'Users and groups arrive.' }, ...found];
}

function findOfAddress({ base_url: fixed }: Provisioned['status'], baseUrl: string): readonly Finding[] {
  const { protocol, host } = new URL(baseUrl);
  if (protocol !== 'https:' && !LOOPBACK.test(host))
    return [
      {
        tone: 'bad',
        text: 'The address has no TLS.',
        hint: 'Set scim.base_url, or server.public_url, to one with https.',
      },
    ];
  if (fixed === null && LOOPBACK.test(host))
    return [
      {
        tone: 'warn',
        text: 'The address is of this machine, which no provider outside reaches.',
        hint: 'Set scim.base_url, or server.public_url, to the address that the provider calls.',
      },
    ];
  return [];
}

/** @param tokens those that have not expired: the gateway lists no other */
function findOfTokens(tokens: readonly Token[], nowMs: number): readonly Finding[] {
  if (tokens.length === 0)
    return [
      {
        tone: 'warn',
        text: 'No token is valid, so that nothing can call.',
        hint: 'Make one, and give it to the provider.',
      },
    ];
  return tokens.flatMap(({ name, created_at: made, last_used_at: used, expires_at: ends }): readonly Finding[] => {
    const silentDays = Math.floor((nowMs - Date.parse(used ?? made)) / DAY_MS);
    const leftDays = ends === null ? Infinity : Math.floor((Date.parse(ends) - nowMs) / DAY_MS);
    return [
      ...(used === null
        ? [
            {
              tone: 'warn',
              text: `“${name}” has sent nothing yet.`,
              hint: 'Test the connection at the provider.',
            } as const,
          ]
        : silentDays >= SILENT_DAYS
          ? [
              {
                tone: 'bad',
                text: `“${name}” has sent nothing for ${silentDays} days: users that were deactivated meanwhile are still active here.`,
                hint: 'Look at the provisioning log of the provider, and delete the token if it is not used any more.',
              } as const,
            ]
          : []),
      ...(leftDays <= ENDS_SOON_DAYS
        ? [
            {
              tone: 'warn',
              text: `“${name}” ends in ${leftDays} days.`,
              hint: 'Make another one before that.',
            } as const,
          ]
        : []),
    ];
  });
}

function findOfPushes(
  { last_refusal: refusal, groups, mappings }: Provisioned['status'],
  nowMs: number,
): readonly Finding[] {
  return [
    ...(refusal !== null && nowMs - Date.parse(refusal.at) < DAY_MS
      ? [
          {
            tone: 'warn',
            text: `A request of the last day was refused: ${refusal.outcome === '' ? String(refusal.status) : refusal.outcome}`,
            hint: `${refusal.method} ${refusal.path}`,
          } as const,
        ]
      : []),
    ...(groups > 0 && mappings === 0
      ? [
          {
            tone: 'warn',
            text: 'Groups are pushed, and none is mapped to a workspace.',
            hint: 'Map them under Groups: until then they give nothing.',
          } as const,
        ]
      : []),
  ];
}
