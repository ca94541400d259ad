import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Authenticate } from '../../accounts/keys/authenticate.ts';
import { requireKind } from '../../accounts/keys/authenticate.ts';
import type { Presets } from '../../accounts/presets.ts';
import type { RequestPermit, RateLimiter } from '../../accounts/limits/rate-limits.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { Clock } from '../../lib/clock.ts';
import { newGenerationId } from '../../lib/ids.ts';
import type { Json } from '../../lib/json.ts';
import { findNotFinite } from './not-finite.ts';
import { LARGE_BYTES, type LoopTurns } from '../../lib/async/loop-turns.ts';
import { findTextExcess } from '../../lib/json/scan-text.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { decodeFormFields, type FormFieldTypes } from '../../wire/gateway/validation/form-fields.ts';
import { decodeHeaderDirectives, type HeaderDirectives } from '../../wire/gateway/headers.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import { NodeCaller, type CallerFormat } from './node-caller.ts';
import type { BodyBudget, BodyShare } from '../body-budget.ts';
import { isForm } from '../form/parse-form.ts';
import { largestForm, readFormBody, type FormBodyDeps, type FormFile, type FormRules } from '../form/read-form-body.ts';
import { decodeBody, parseBody } from '../parse-body.ts';
import { readBody, type BodyLimits } from '../read-body.ts';
import type { UnreadResponses } from '../unread-responses.ts';
import { formatPath } from '../../wire/gateway/validation/check-shape.ts';
import type { Generate } from '../../pipeline/request.ts';

export interface GenerationRouteDeps extends BodyRouteDeps {
  readonly generate: Generate;
  readonly presets: Pick<Presets, 'use'>;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
}

/** What a route takes of forms. */
export interface FormRoute extends FormBodyDeps {
  readonly rules: FormRules;
  readonly types: FormFieldTypes;
}

/** What a route needs that takes a JSON body from a key. */
export interface BodyRouteDeps {
  /** Which forms the route takes in place of JSON. Absent: none. */
  readonly forms?: FormRoute;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly bodyLimits: BodyLimits;
  readonly bodies: BodyBudget;
  /** Knows streams whose readers are behind. */
  readonly unread: Pick<UnreadResponses, 'waitForReader'>;
  /** In which large bodies are worked on. */
  readonly turns: LoopTurns;
  /** Takes a place among the requests under way at a time. Absent: there are as many as come. */
  readonly enter?: RateLimiter['enter'];
  /** Whether `x-api-key` may carry the key: clients of the messages format send it. */
  readonly allowApiKeyHeader: boolean;
  /** Whether `api-key` may carry it, as Azure's clients send it. */
  readonly allowAzureHeader?: boolean;
  /** Whether a management key will do, too: where nothing is generated. */
  readonly anyKey?: boolean;
  readonly baseUrl: () => string;
  readonly draining: () => boolean;
  readonly onRefused: (error: GatewayError, format: string) => void;
  readonly onBug: (error: unknown, generationId: string) => void;
}

const NO_FILES: readonly FormFile[] = [];
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Answers one request, whatever comes. Never rejects. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What an admitted request needs to be answered. */
export interface Admitted {
  /** Of the generation, if it becomes one. */
  readonly id: string;
  readonly place: RequestPermit | undefined;
  readonly principal: Principal;
  /** The fields of a form as the JSON that says the same. */
  readonly body: Json;
  /** The text of the body as it came; of a form, of its fields as JSON. */
  readonly text: string;
  /** Files of a form, open until the request has been answered. */
  readonly files: readonly FormFile[];
  /** It came as a form. */
  readonly isForm: boolean;
  /** For a large body: to be waited for before each step that takes time by its size. */
  readonly turns: LoopTurns | undefined;
  readonly headers: HeaderDirectives;
  /** The vendor's own client of the messages format says so. */
  readonly isMessages: boolean;
}

/**
 * A generation endpoint on bare `node:http` (docs/decisions/0002): one factory, used once a format. The order of
 * refusals is @spec auth-18: credentials, key class, places among those under way, memory, size, slowness, then the body
 * itself.
 */
export function createGenerationRoute(format: ClientFormat, deps: GenerationRouteDeps): RawHandler {
  return createBodyRoute(format, deps, (admitted, response, arrivedMs) => {
    const context = { accountId: admitted.principal.accountId };
    const decode: ClientFormat['decodeRequest'] = (body, text, headers) =>
      format.decodeRequest(body, text, headers, context);
    const read = readWithPreset(deps.presets, format.id, decode, admitted);
    const { id, principal, place, turns } = admitted;
    const begin = (named: GenerationRequest): Promise<void> => {
      const request = withFullNames(named, deps.rename);
      const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
      return deps.generate(incoming, format, new NodeCaller(response, format, deps.unread));
    };
    if (!(read instanceof Promise) && turns === undefined) return begin(read);
    return Promise.all([read, turns?.next()]).then(([named]) => begin(named));
  });
}

/** A route of a format that takes a JSON body from a normal key, and answers errors in the format's own shape. */
export function createBodyRoute(
  format: CallerFormat & { readonly id: string },
  deps: BodyRouteDeps,
  handle: (admitted: Admitted, response: ServerResponse, arrivedMs: number) => Promise<void>,
): RawHandler {
  return async (request, response) => {
    const arrivedMs = deps.clock.monotonicMs();
    let isRead = false;
    let share: BodyShare | undefined;
    let files = NO_FILES;
    let place: RequestPermit | undefined;
    try {
      const known = deps.authenticate(request.headers, deps);
      const principal = known instanceof Promise ? await known : known;
      if (deps.anyKey !== true) requireKind(principal, 'normal');
      if (deps.draining())
        throw new GatewayError('provider_overloaded', 'The gateway is shutting down.', {
          status: 503,
          retryAfterMs: 1_000,
        });
      if (request.headers.expect !== undefined) continueIfSmall(request, response, deps);
      const id = newGenerationId(deps.clock.nowMs());
      const entered = deps.enter?.(principal, id);
      if (entered !== undefined) place = await entered;
      share = deps.bodies.open(principal.rootKeyHash ?? principal.keyHash);
      const forms = deps.forms === undefined ? undefined : formsFor(request, deps.forms);
      const taken =
        forms === undefined ? await readBody(request, deps.bodyLimits, share) : await readForm(request, forms, share);
      isRead = true;
      if ('files' in taken) ({ files } = taken);
      const headers = decodeHeaderDirectives(request.headers);
      const isMessages = request.headers['anthropic-version'] !== undefined;
      const turns = taken instanceof Uint8Array && taken.length >= LARGE_BYTES ? deps.turns : undefined;
      let parsed: ParsedBody;
      if (!(taken instanceof Uint8Array)) parsed = taken;
      else if (turns === undefined) parsed = readSmallBody(taken);
      else parsed = await readLargeBody(taken, turns);
      const { text, body } = parsed;
      const admitted = {
        id,
        place,
        principal,
        body,
        text,
        files,
        isForm: forms !== undefined,
        turns,
        headers,
        isMessages,
      };
      await handle(admitted, response, arrivedMs);
    } catch (error) {
      const refusal = asRefusal(error, deps);
      deps.onRefused(refusal, format.id);
      // What is left of a body that was not read would be taken for the next request.
      if (!isRead && !request.complete) response.shouldKeepAlive = false;
      new NodeCaller(response, format).refuse(refusal, {
        generationId: null,
        serviceMetadata: undefined,
        baseUrl: deps.baseUrl(),
      });
    } finally {
      share?.release();
      for (const { file } of files) file.close();
      // Where it has not ended with the rest of its account.
      if (place !== undefined) void place.ended(undefined);
    }
  };
}

/** The form that the request brings; `undefined`: it brings JSON. @throws GatewayError 400 where it is neither */
function formsFor(request: IncomingMessage, forms: FormRoute): FormRoute | undefined {
  if (isForm(request)) return forms;
  const { 'content-type': type } = request.headers;
  if (type !== undefined && !JSON_TYPE.test(type))
    throw new GatewayError('invalid_request', 'Content-Type: must be multipart/form-data or application/json.');
  return undefined;
}

interface ReadForm extends ParsedBody {
  readonly files: readonly FormFile[];
}

async function readForm(request: IncomingMessage, forms: FormRoute, share: BodyShare): Promise<ReadForm> {
  const { fields, files } = await readFormBody(request, forms.rules, forms, share);
  try {
    const body = decodeFormFields(fields, forms.types);
    return { body, text: JSON.stringify(body), files };
  } catch (error) {
    for (const { file } of files) file.close();
    throw error;
  }
}

function continueIfSmall(
  request: IncomingMessage,
  response: ServerResponse,
  { bodyLimits, forms }: Pick<BodyRouteDeps, 'bodyLimits' | 'forms'>,
): void {
  const bytesMax = forms !== undefined && isForm(request) ? largestForm(forms.rules) : bodyLimits.bytesMax;
  if (Number(request.headers['content-length'] ?? 0) <= bytesMax) response.writeContinue();
}

type ParsedBody = Pick<Admitted, 'text' | 'body'>;

function readSmallBody(bytes: Buffer): ParsedBody {
  const text = decodeBody(bytes);
  refuseExcess(text);
  const body = parseBody(text);
  const tooLarge = findNotFinite(body);
  if (tooLarge !== undefined) throw notFinite(tooLarge);
  return { text, body };
}

/** The same with other requests between the steps, and before the next one, which decodes it. */
async function readLargeBody(bytes: Buffer, turns: LoopTurns): Promise<ParsedBody> {
  await turns.next();
  const text = decodeBody(bytes);
  await turns.next();
  refuseExcess(text);
  await turns.next();
  const body = parseBody(text);
  await turns.next();
  const tooLarge = findNotFinite(body);
  if (tooLarge !== undefined) throw notFinite(tooLarge);
  await turns.next();
  return { text, body };
}

function refuseExcess(text: string): void {
  const excess = findTextExcess(text);
  if (excess !== undefined) throw invalid(formatPath(excess.path), excess.message);
}

function notFinite(path: NonNullable<ReturnType<typeof findNotFinite>>): GatewayError {
  return invalid(formatPath(path), 'is a number beyond what can be represented');
}

function asRefusal(error: unknown, deps: BodyRouteDeps): GatewayError {
  if (error instanceof GatewayError) return error;
  // V8 says it this way when JSON is nested deeper than its stack: the request's fault, not ours.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return new GatewayError('invalid_request', 'The request body is nested too deeply.', { cause: error });
  deps.onBug(error, 'before routing');
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}
