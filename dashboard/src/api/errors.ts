/** A wrong member of a request: where, and what is wrong with it. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** What the gateway, or the way to it, returned instead of a result. */
export class ApiError extends Error {
  /** HTTP status; 0: the gateway did not respond at all. */
  readonly status: number;
  readonly type: string | undefined;
  readonly issues: readonly Issue[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, details: Partial<Omit<ApiError, keyof Error | 'status'>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.type = details.type;
    this.issues = details.issues ?? [];
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** @param body as it came, parsed where it was JSON */
export function toApiError(response: Response, body: unknown): ApiError {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const metadata = isRecord(error['metadata']) ? error['metadata'] : {};
  const message = textOf(error['message']) ?? `The gateway responded ${response.status} without a reason.`;
  const retryAfter = Number(response.headers.get('retry-after'));
  const issues = [error['issues'], metadata['issues']].find((found) => Array.isArray(found));
  return new ApiError(response.status, message, {
    type: textOf(error['error_type']) ?? textOf(metadata['error_type']) ?? textOf(error['type']),
    issues: Array.isArray(issues) ? issues.flatMap(toIssue) : [],
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
}

/** Any failure of a call: without a response of the gateway the network is away. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, `The gateway does not respond: ${error instanceof Error ? error.message : String(error)}`);
}

function toIssue(value: unknown): Issue[] {
  if (!isRecord(value)) return [];
  const path = Array.isArray(value['path']) ? value['path'].join('.') : (textOf(value['path']) ?? '');
  return [{ path, message: textOf(value['message']) ?? 'is not valid' }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
