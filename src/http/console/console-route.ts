import type { z } from 'zod';
import type { AuthorizationRequest, Place } from '../../accounts/connections/authorization.ts';
import type { Connections } from '../../accounts/connections/connections.ts';
import type { ConsoleSession, ConsoleSessions, SessionSecrets } from '../../accounts/console/sessions.ts';
import type { Oidc } from '../../accounts/people/oidc.ts';
import type { RouteResponse } from '../management/route.ts';

/** What routes of the dashboard alone work with. */
export interface ConsoleServices {
  readonly sessions: ConsoleSessions;
  /** Absent: there is no organization, and keys alone sign in. */
  readonly organization?: SignInWays | undefined;
  /** Absent: programs connect with API keys alone. */
  readonly connections?: ConnectionServices | undefined;
  /** Whether a browser on another machine may sign in without TLS. */
  readonly plainHttp: boolean;
  readonly version: string;
}

/** Programs that people let use `/mcp` for them. */
export interface ConnectionServices extends Connections {
  /** @throws OauthRefusal */
  check(parameters: URLSearchParams, place: Place): Promise<AuthorizationRequest>;
  /** The gateway under the origin that the browser has of it. @throws GatewayError 403 without TLS */
  placeOf(origin: string): Place;
}

/** How users sign in. */
export interface SignInWays {
  readonly name: string | null;
  readonly password: boolean;
  readonly oidc?: { readonly name: string; readonly start: Oidc['start'] };
}

export interface ConsoleContext<Params, Body> {
  /** Of the browser, as far as it has them. */
  readonly secrets: SessionSecrets;
  /** Absent on open routes only. */
  readonly session: ConsoleSession | undefined;
  readonly params: Params;
  readonly body: Body;
  readonly address: string;
  /** Where the browser finds the dashboard: its scheme and its host. */
  readonly origin: string;
  readonly cookie: (name: string) => string | undefined;
  readonly userAgent: string;
  readonly isTls: boolean;
  readonly services: ConsoleServices;
}

export interface ConsoleAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

interface ConsoleRouteFacts {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/ui/api`, in the syntax of OpenAPI. */
  readonly path: string;
  /** Whether it can be called without a session. */
  readonly isOpen?: boolean;
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  readonly errors: readonly (400 | 401 | 403 | 404 | 409 | 413 | 429 | 502)[];
}

/** A route of the dashboard that `/v1` has not: of its sessions. */
export interface ConsoleRoute<
  Params extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> extends ConsoleRouteFacts {
  readonly params: Params;
  readonly body: Body;
  handle(context: ConsoleContext<z.output<Params>, z.output<Body>>): Promise<ConsoleAnswer> | ConsoleAnswer;
}

export function defineConsoleRoute<Params extends z.ZodType, Body extends z.ZodType>(
  route: ConsoleRoute<Params, Body>,
): ConsoleRoute<Params, Body> {
  return route;
}
