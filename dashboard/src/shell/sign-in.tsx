import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent, type ReactElement } from 'react';
import { asApiError, type ApiError } from '../api/errors.ts';
import { signIn } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';

/**
 * Opens a session: with a key, or with the link that the first start printed, whose text is in the fragment so that no
 * server, log or proxy sees it.
 * @param isOver a session ended while a page was open: afterwards that page goes on
 */
export function SignIn({ isOver }: { readonly isOver: boolean }): ReactElement {
  const [key, setKey] = useState('');
  const { send, error, isBusy } = useSignIn();
  useEffect(() => {
    const link = readLink();
    if (link !== undefined) void send({ link });
    // The link is used once, when the page opens.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') void send({ key: key.trim() });
  };
  return (
    <main className="flex min-h-screen flex-col items-center justify-center gap-6 p-4">
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-6">
        <p className="mb-4 flex items-center gap-2 text-dim">
          <Mark /> Model Gateway
        </p>
        <h1 className="mb-1 text-[19px] leading-6 font-semibold">{isOver ? 'Sign in again' : 'Sign in'}</h1>
        <p className="mb-4 text-dim">
          {isOver
            ? 'Your session is over. What you typed is still there.'
            : 'A management key opens everything, an API key what it may use itself.'}
        </p>
        <form onSubmit={onSubmit} className="flex flex-col gap-3">
          <input type="text" name="username" value="model-gateway" autoComplete="username" readOnly hidden />
          <TextField
            label="Management key or API key"
            type="password"
            name="gateway-key"
            autoFocus
            autoComplete="current-password"
            spellCheck={false}
            value={key}
            placeholder="mgw-…"
            error={error === undefined ? undefined : sentenceOf(error)}
            onChange={(event) => setKey(event.target.value)}
            className="h-9"
          />
          <Button type="submit" look="primary" disabled={isBusy || key.trim() === ''} className="h-9">
            {isBusy ? 'Signing in …' : 'Sign in'}
          </Button>
        </form>
      </div>
      <p className="max-w-sm text-center text-xs text-dim">
        Or open the link that the first start printed. <code className="font-mono">model-gateway console link</code>{' '}
        prints another one.
      </p>
    </main>
  );
}

/** The gateway's sentence, and when another try makes sense. */
function sentenceOf({ message, retryAfterSeconds: seconds }: ApiError): string {
  return seconds === undefined ? message : `${message} Try again in ${seconds} s.`;
}

function useSignIn(): {
  readonly send: (proof: Parameters<typeof signIn>[0]) => Promise<void>;
  readonly error: ApiError | undefined;
  readonly isBusy: boolean;
} {
  const queries = useQueryClient();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setIsBusy] = useState(false);
  const send = async (proof: Parameters<typeof signIn>[0]): Promise<void> => {
    setIsBusy(true);
    setError(undefined);
    try {
      await signIn(proof);
      await queries.invalidateQueries();
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setIsBusy(false);
    }
  };
  return { send, error, isBusy };
}

/** `#t=...`, taken out of the address at once. */
function readLink(): string | undefined {
  const link = new URLSearchParams(location.hash.slice(1)).get('t');
  if (link === null || link === '') return undefined;
  history.replaceState(undefined, '', `${location.pathname}${location.search}`);
  return link;
}

export function Mark(): ReactElement {
  return (
    <span className="inline-flex size-7 items-center justify-center rounded-md bg-accent-solid text-white">
      <Icon name="routing" size={14} />
    </span>
  );
}
