import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

/** A grant carries a key that is made with the form: however often it is sent, it is granted once. */
export function GrantCredit({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const body = { amount: parseNumber(amount) ?? 0, note };
  const grant = useChange(
    (grantBody: typeof body) =>
      client.POST('/credits/grants', { params: { header: { 'Idempotency-Key': idempotencyKey } }, body: grantBody }),
    onClose,
  );
  return (
    <FormDialog
      title="Grant credit"
      isOpen={isOpen}
      onClose={onClose}
      change={grant}
      input={body}
      submit="Grant"
      request={{ method: 'POST', path: '/credits/grants', body }}
    >
      <NumberField
        label="USD"
        isRequired
        autoFocus
        value={amount}
        error={issueFor(grant.error, 'amount')}
        onChange={setAmount}
      />
      <TextField
        label="Why"
        value={note}
        placeholder="invoice 2026-11"
        error={issueFor(grant.error, 'note')}
        onChange={(event) => setNote(event.target.value)}
      />
    </FormDialog>
  );
}
