import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent, type ReactElement } from 'react';
import { signIn } from '../api/session.ts';
import { leaveForProvider, RETURN_PATH, returnFromProvider, signInQuery, type SignInWays } from '../api/sign-in.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Card, Problem, sentenceOf } from './card.tsx';
import { useAttempt, type Attempt } from './use-sign-in.ts';

const NO_USERS: SignInWays = { hasUsers: false, organization: undefined, hasPasswords: false, provider: undefined };

/**
 * Opens a session: with a key, a password, an identity provider, or with the link that the first start printed, whose text is
 * in the fragment so that no server, log or proxy sees it.
 * @param isOver a session ended while a page was open: afterwards that page goes on
 */
export function SignIn({ isOver }: { readonly isOver: boolean }): ReactElement | undefined {
  const ways = useQuery(signInQuery);
  const attempt = useAttempt();
  const [wantsKey, setWantsKey] = useState(false);
  useEffect(() => {
    const link = readLink();
    if (link !== undefined) void attempt.run(() => signIn({ link }));
    else if (location.pathname === RETURN_PATH && location.search !== '') void attempt.run(returnFromProvider);
    // Each is used once, when the page opens.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  if (ways.isPending) return undefined;
  const { hasUsers, organization, hasPasswords, provider } = ways.data ?? NO_USERS;
  const isForUsers = hasUsers && (hasPasswords || provider !== undefined) && !wantsKey;
  const aim = organization === undefined ? 'Sign in' : `Sign in to ${organization}`;
  return (
    <Card
      title={isOver ? 'Sign in again' : isForUsers ? aim : 'Sign in'}
      lead={leadOf(isOver, isForUsers)}
      below={
        <>
          Or open the link that the first start printed. <code className="font-mono">model-gateway console link</code>{' '}
          prints another one.
        </>
      }
    >
      {isForUsers ? (
        <UserForms attempt={attempt} provider={provider} hasPasswords={hasPasswords} />
      ) : (
        <KeyForm attempt={attempt} />
      )}
      {hasUsers && (
        <Button className="mt-3 w-full" onClick={() => setWantsKey(!wantsKey)}>
          {wantsKey ? 'Sign in as a user' : 'Use a key'}
        </Button>
      )}
    </Card>
  );
}

function leadOf(isOver: boolean, isForUsers: boolean): string {
  if (isOver) return 'Your session is over. What you typed is still there.';
  return isForUsers
    ? 'Your account shows what is yours.'
    : 'A management key opens everything, an API key what it may use itself.';
}

function KeyForm({ attempt: { run, error, isBusy } }: { readonly attempt: Attempt }): ReactElement {
  const [key, setKey] = useState('');
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') void run(() => signIn({ key: key.trim() }));
  };
  return (
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
  );
}

function UserForms({
  attempt,
  provider,
  hasPasswords,
}: {
  readonly attempt: Attempt;
  readonly provider: string | undefined;
  readonly hasPasswords: boolean;
}): ReactElement {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { run, error, isBusy } = attempt;
  const isReady = email.trim() !== '' && password !== '';
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) void run(() => signIn({ email: email.trim(), password }));
  };
  return (
    <div className="flex flex-col gap-3">
      {provider !== undefined && <ProviderButton name={provider} attempt={attempt} />}
      {hasPasswords && (
        <form onSubmit={onSubmit} className="flex flex-col gap-3">
          <TextField
            label="Mail address"
            type="email"
            name="email"
            autoFocus
            autoComplete="username"
            spellCheck={false}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            className="h-9"
          />
          <TextField
            label="Password"
            type="password"
            name="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            className="h-9"
          />
          <Button type="submit" look="primary" disabled={isBusy || !isReady} className="h-9">
            {isBusy ? 'Signing in …' : 'Sign in'}
          </Button>
        </form>
      )}
      <Problem error={error} />
    </div>
  );
}

/** Leaves for the identity provider. */
export function ProviderButton({
  name,
  attempt: { run, isBusy },
}: {
  readonly name: string;
  readonly attempt: Attempt;
}): ReactElement {
  return (
    <Button look="primary" className="h-9" disabled={isBusy} onClick={() => void run(leaveForProvider)}>
      Sign in with {name}
    </Button>
  );
}

/** `#t=...`, taken out of the address at once. */
export function readLink(): string | undefined {
  const link = new URLSearchParams(location.hash.slice(1)).get('t');
  if (link === null || link === '') return undefined;
  history.replaceState(undefined, '', `${location.pathname}${location.search}`);
  return link;
}
