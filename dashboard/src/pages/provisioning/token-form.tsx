import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { DAY_MS } from '../../parts/time.ts';

const ENDS = [
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: 'never', label: 'never' },
] as const;

/** A token for an identity provider: the response is the only one that shows it. */
export function TokenForm({
  isOpen,
  onToken,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onToken: (token: string) => void;
  readonly onClose: () => void;
}): ReactElement {
  const [name, setName] = useState('');
  const [ends, setEnds] = useState<(typeof ENDS)[number]['value']>('365');
  // Made once: another moment at each drawing would change the request that is shown.
  const [nowMs] = useState(() => Date.now());
  const body = {
    name,
    expires_at: ends === 'never' ? null : new Date(nowMs + Number(ends) * DAY_MS).toISOString(),
  };
  const make = useChange(
    (input: typeof body) => client.POST('/scim/tokens', { body: input }),
    (made) => {
      onClose();
      if (made !== undefined) onToken(made.token);
    },
  );
  return (
    <FormDialog
      title="New token"
      isOpen={isOpen}
      onClose={onClose}
      change={make}
      input={body}
      submit="Make token"
      request={{ method: 'POST', path: '/scim/tokens', body }}
    >
      <TextField
        label="Name"
        value={name}
        required
        maxLength={100}
        placeholder="Entra ID"
        hint="Of the identity provider that sends it. There are at most 5, so that one can be replaced without a gap."
        error={issueFor(make.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <Select label="Ends" value={ends} options={ENDS} error={issueFor(make.error, 'expires_at')} onChange={setEnds} />
    </FormDialog>
  );
}
