import { useState, type FormEvent, type ReactElement } from 'react';
import { asApiError, type ApiError } from '../../api/errors.ts';
import { changePassword } from '../../api/sign-in.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { issueFor } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';

/** Of the user that is signed in. Its other sessions end. */
export function Password(): ReactElement {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isDone, setIsDone] = useState(false);
  const onSubmit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    setIsDone(false);
    try {
      await changePassword({ current, next });
      setIsDone(true);
      setCurrent('');
      setNext('');
    } catch (failure) {
      setError(asApiError(failure));
    }
  };
  const [ofCurrent, ofNext] = [issueFor(error, 'current'), issueFor(error, 'next')];
  return (
    <Section title="Password">
      <form onSubmit={(event) => void onSubmit(event)} className="flex max-w-sm flex-col gap-3">
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={current}
          error={ofCurrent}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 12 characters. Your other sessions end."
          value={next}
          error={ofNext}
          onChange={(event) => setNext(event.target.value)}
        />
        {error !== undefined && ofCurrent === undefined && ofNext === undefined && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {error.message}
          </p>
        )}
        <div className="flex items-center gap-3">
          <Button type="submit" disabled={current === '' || next === ''}>
            Change the password
          </Button>
          <span role="status">{isDone ? 'It is changed.' : ''}</span>
        </div>
      </form>
    </Section>
  );
}
