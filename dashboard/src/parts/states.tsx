import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import type { ApiError } from '../api/errors.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { formatClock } from './time.ts';

/** What is there while nothing is known: appears after 150 ms. */
export function Skeleton({ rows = 8 }: { readonly rows?: number }): ReactElement {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2 p-3">
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} className="skeleton block h-3.5 rounded" />
      ))}
    </div>
  );
}

/** An empty page teaches: one sentence of what would be here, and what fills it. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}): ReactElement {
  return (
    <div className="mx-auto flex w-full max-w-xl min-w-0 flex-col items-center gap-2 px-4 py-12 text-center">
      <p className="text-base font-medium">{title}</p>
      {children !== undefined && <div className="flex w-full min-w-0 flex-col gap-3 text-dim">{children}</div>}
      {action !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** A failed read: the gateway's own sentence, its type, the request's id, and another try. */
export function Failure({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }): ReactElement {
  return (
    <div
      role="alert"
      className="mx-auto my-6 flex w-full max-w-xl min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-4"
    >
      <p className="flex items-start gap-2 font-medium text-bad">
        <Icon name="warning" /> <span className="min-w-0 break-words">{error.message}</span>
      </p>
      <p className="font-mono text-xs text-dim">
        {[error.status > 0 ? `status ${error.status}` : undefined, error.type, error.requestId]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {error.status === 403 && <p className="text-dim">This page needs an operator: sign in with a management key.</p>}
      {onRetry !== undefined && (
        <div>
          <Button icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** One read in each of its states. What is known stays while it is read again, and when that fails. */
export function Load<Data>({
  of,
  after,
  children,
  rows,
}: {
  readonly of: UseQueryResult<Data, ApiError>;
  /** What it waits for: where that fails, it would never begin. */
  readonly after?: UseQueryResult<unknown, ApiError>;
  readonly children: (data: Data) => ReactNode;
  readonly rows?: number;
}): ReactElement {
  if (of.data !== undefined)
    return (
      <>
        {of.isError && <Stale error={of.error} at={of.dataUpdatedAt} />}
        {children(of.data)}
      </>
    );
  if (of.isError) return <Failure error={of.error} onRetry={() => void of.refetch()} />;
  if (after?.isError === true) return <Failure error={after.error} onRetry={() => void after.refetch()} />;
  return <Skeleton {...(rows !== undefined && { rows })} />;
}

function Stale({ error, at }: { readonly error: ApiError; readonly at: number }): ReactElement {
  return (
    <p role="alert" className="border-b border-line bg-warn-soft px-3 py-1 text-warn">
      {error.message} What you see is from {formatClock(new Date(at))}.
    </p>
  );
}
