import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent, type ReactElement } from 'react';
import { signIn } from '../api/session.ts';
import { readInvitation, signInQuery, type Invitation as Invited } from '../api/sign-in.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { issueFor } from '../parts/form.tsx';
import { Name } from '../parts/text.tsx';
import { Card, Problem } from './card.tsx';
import { ProviderButton, readLink } from './sign-in.tsx';
import { useAttempt, type Attempt } from './use-sign-in.ts';

/** Makes a user of an invitation, or lets one choose another password. The link is good until it is used. */
export function Invitation(): ReactElement {
  const [token] = useState(readLink);
  const [invited, setInvited] = useState<Invited>();
  const look = useAttempt();
  const attempt = useAttempt();
  const { data: ways } = useQuery(signInQuery);
  useEffect(() => {
    if (token !== undefined) void look.run(async () => setInvited(await readInvitation(token)));
    // Once, when the page opens.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  if (token === undefined || look.error !== undefined)
    return (
      <Card title="This link opens nothing" lead="It was used, withdrawn, or has expired, or a part of it is missing.">
        <Problem error={look.error} />
        <Button className="mt-3 h-9 w-full" onClick={() => location.assign('/')}>
          Sign in
        </Button>
      </Card>
    );
  if (invited === undefined)
    return (
      <Card title="Invitation" lead="Reading the link …">
        {undefined}
      </Card>
    );
  const place = invited.organization ?? 'this gateway';
  const lead = (
    <>
      <Name>{invited.email}</Name>
      {invited.isNew && (invited.isAdmin ? ', as an admin of the organization' : ', as a member')}
    </>
  );
  return (
    <Card title={invited.isNew ? `Join ${place}` : 'Choose a password'} lead={lead}>
      <div className="flex flex-col gap-3">
        {invited.isNew && ways?.provider !== undefined && <ProviderButton name={ways.provider} attempt={attempt} />}
        {ways?.hasPasswords !== false && <AcceptForm token={token} invited={invited} attempt={attempt} />}
        {issueFor(attempt.error, 'password') === undefined && <Problem error={attempt.error} />}
      </div>
    </Card>
  );
}

function AcceptForm({
  token,
  invited: { email, isNew },
  attempt: { run, error, isBusy },
}: {
  readonly token: string;
  readonly invited: Invited;
  readonly attempt: Attempt;
}): ReactElement {
  const [first, setFirst] = useState('');
  const [last, setLast] = useState('');
  const [password, setPassword] = useState('');
  const onSubmit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const invitation = {
      token,
      password,
      ...(first.trim() !== '' && { first_name: first.trim() }),
      ...(last.trim() !== '' && { last_name: last.trim() }),
    };
    if (await run(() => signIn({ invitation }))) location.assign('/');
  };
  return (
    <form onSubmit={(event) => void onSubmit(event)} className="flex flex-col gap-3">
      <input type="text" name="username" value={email} autoComplete="username" readOnly hidden />
      {isNew && (
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label="First name"
            autoComplete="given-name"
            value={first}
            onChange={(event) => setFirst(event.target.value)}
            className="h-9"
          />
          <TextField
            label="Last name"
            autoComplete="family-name"
            value={last}
            onChange={(event) => setLast(event.target.value)}
            className="h-9"
          />
        </div>
      )}
      <TextField
        label="Password"
        type="password"
        name="new-password"
        autoComplete="new-password"
        hint="At least 12 characters. Several words are easier to remember than signs."
        value={password}
        error={issueFor(error, 'password')}
        onChange={(event) => setPassword(event.target.value)}
        className="h-9"
      />
      <Button type="submit" look="primary" disabled={isBusy || password === ''} className="h-9">
        {isBusy ? 'Sending …' : isNew ? 'Join' : 'Choose it'}
      </Button>
    </form>
  );
}
