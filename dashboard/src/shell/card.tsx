import type { ReactElement, ReactNode } from 'react';
import type { ApiError } from '../api/errors.ts';
import { Icon } from '../parts/icon.tsx';

/** What stands alone in the middle: signing in, and accepting an invitation. */
export function Card({
  title,
  lead,
  children,
  below,
}: {
  readonly title: string;
  readonly lead: ReactNode;
  readonly children: ReactNode;
  readonly below?: ReactNode;
}): ReactElement {
  return (
    <main className="flex min-h-screen flex-col items-center justify-center gap-6 p-4">
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-6">
        <p className="mb-4 flex items-center gap-2 text-dim">
          <Mark /> Model Gateway
        </p>
        <h1 className="mb-1 text-[19px] leading-6 font-semibold">{title}</h1>
        <p className="mb-4 text-dim">{lead}</p>
        {children}
      </div>
      {below !== undefined && <p className="max-w-sm text-center text-xs text-dim">{below}</p>}
    </main>
  );
}

/** The gateway's sentence, and when another try makes sense. */
export function sentenceOf({ message, retryAfterSeconds: seconds }: ApiError): string {
  return seconds === undefined ? message : `${message} Try again in ${seconds} s.`;
}

export function Problem({ error }: { readonly error: ApiError | undefined }): ReactElement | undefined {
  if (error === undefined) return undefined;
  return (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      {sentenceOf(error)}
    </p>
  );
}

export function Mark(): ReactElement {
  return (
    <span className="inline-flex size-7 items-center justify-center rounded-md bg-accent-solid text-white">
      <Icon name="routing" size={14} />
    </span>
  );
}
