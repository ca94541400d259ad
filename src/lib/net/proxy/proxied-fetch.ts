import { Agent, fetch, type BodyInit } from 'undici';
import type { ProxyOf } from './proxies.ts';
import { createConnector } from '../skip-continue.ts';

const CONNECT_MS_MAX = 10_000;

/** What libraries that call addresses by themselves are given as their `fetch`. */
export type ProxiedFetch = (
  url: string,
  options: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: BodyInit | null | undefined;
    readonly redirect: 'manual';
    readonly signal?: AbortSignal;
  },
) => Promise<Response>;

/** `fetch` through the proxies of the gateway. */
export function createProxiedFetch(proxyOf: ProxyOf): ProxiedFetch {
  const dispatcher = new Agent({ connect: createConnector({ timeout: CONNECT_MS_MAX, allowH2: false }, proxyOf) });
  return async (url, { method, headers, body, redirect, signal }) => {
    const answer = await fetch(url, {
      dispatcher,
      method,
      headers,
      body: body ?? null,
      redirect,
      signal: signal ?? null,
    });
    const { status, statusText } = answer;
    return new Response(answer.body, { status, statusText, headers: [...answer.headers] });
  };
}
